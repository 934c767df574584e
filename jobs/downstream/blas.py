"""Imported before torch and numpy. Debian's OpenBLAS does not know every newer Intel processor and then takes its slowest kernels (three times slower
here); where the processor has AVX-512 it is told to use those. What the surroundings have set is left alone, and other libraries ignore it."""
import os


def choose_kernels():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            head = file.read(8192)
    except OSError:
        return
    if "GenuineIntel" in head and " avx512dq " in head and " avx512vl " in head:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")


def threads():
    """OMP_NUM_THREADS, else the cores of the Slurm task, else 1: runs beside each other gain more than threads within one."""
    return int(os.environ.get("OMP_NUM_THREADS") or os.environ.get("SLURM_CPUS_PER_TASK") or 1)


choose_kernels()
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(threads()))
