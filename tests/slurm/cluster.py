"""A Slurm of its own on one machine: munged, slurmctld and a slurmd a virtual node, without systemd, cgroups or a database.

Everything (key, sockets, configuration, state, logs, pid files) lives in one folder under /tmp, ports are free ones, and only processes of
these pid files and of the virtual nodes' own namespaces are ever ended. By hand: python3 cluster.py up [NODES]; python3 cluster.py down FOLDER
"""
import getpass
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel", "sinfo", "sstat")
CPUS = 2  # a node; together more than the machine may have
MEMORY = 16000  # MB a node, for the same reason only said, not checked


class Unavailable(Exception):
    """Slurm is not installed or does not start here: the reason to skip, in one line."""


def free_ports(count):
    """Ports that nobody listens at, below those that connections are given (from 32768 on): another process would soon take one of them."""
    ports = []
    while len(ports) < count:
        port = random.randrange(20000, 32000)
        with socket.socket() as trial:
            try:
                trial.bind(("", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


def namespace_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/uts")
    except OSError:
        return None


def is_running(pid):
    """A zombie whose parent has not reaped it is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds, every=0.05):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(every)
    return True


def end(pids, seconds=5):
    """SIGTERM, then SIGKILL for what is still there."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for pid in pids:
            try:
                os.kill(pid, sign)
            except ProcessLookupError:
                pass
        if wait_until(lambda: not any(map(is_running, pids)), seconds):
            return


class Cluster:
    def __init__(self, nodes=2, folder=None):
        self.names = [f"n{i + 1}" for i in range(nodes)]
        self.folder = Path(folder or tempfile.mkdtemp(prefix="pgs-", dir="/tmp"))  # short: sockets have at most 108 characters
        self.conf = self.folder / "slurm.conf"
        # Each node a host name and a /dev/shm of its own: else Open MPI takes the nodes for one host, and its segments collide.
        unshare = ["unshare", "--uts", "--mount"]
        self.isolated = shutil.which("unshare") is not None and subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("SLURM")}, "SLURM_CONF": str(self.conf)}
        if not self.isolated:
            self.environment.update(OMPI_MCA_btl="self,tcp", OMPI_MCA_btl_tcp_if_include="lo")

    # --- up and down

    def up(self):
        missing = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
        if missing:
            raise Unavailable(f"Slurm is not installed ({missing[0]} is missing); jobs/setup.sh --tests installs it on Debian")
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        self.environment["PATH"] = os.environ["PATH"]
        for name in ("state", "log", "run", *(f"tmp-{n}" for n in self.names)):
            (self.folder / name).mkdir(exist_ok=True)
        self.folder.chmod(0o755)
        self._start_munge()
        self.conf.write_text(self._configuration())
        self._start("slurmctld", ["slurmctld", "-c", "-f", str(self.conf)])
        for name in self.names:
            self.start_node(name)
        if not wait_until(lambda: self.idle() == len(self.names), 20):
            raise Unavailable(f"Slurm's nodes do not become idle: {self.tail()}")
        return self

    def idle(self):
        listed = self.run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N", check=False).stdout.split()
        return len(set(listed))

    def down(self):
        """Leaves nothing behind, whatever state the cluster is in."""
        nodes = {space for space in map(self.node_namespace, self.names) if space}
        if self.conf.exists() and self._daemon("slurmctld"):
            self.run("scancel", "-s", "KILL", "-b", "-f", "--me", check=False, timeout=20)
            self.run("scancel", "--me", check=False, timeout=20)
            wait_until(lambda: not self.run("squeue", "-h", check=False, timeout=20).stdout.strip(), 5)
        end([pid for pid in map(self._pid, self._pid_files()) if pid])
        if self.isolated:
            end(self.processes_of(nodes))
        end(self._stray_steps())
        shutil.rmtree(self.folder, ignore_errors=True)

    def _pid_files(self):
        return [*sorted((self.folder / "run").glob("slurmd-*.pid")), self.folder / "run/slurmctld.pid", self.folder / "run/munged.pid"]

    @staticmethod
    def _pid(path):
        try:
            pid = int(path.read_text())
        except (OSError, ValueError):
            return None
        comm = Path(f"/proc/{pid}/comm")
        # A pid is used again some day: only a daemon of that name is ours.
        return pid if comm.exists() and path.name.split("-")[0].split(".")[0] in comm.read_text() else None

    def _daemon(self, name):
        return self._pid(self.folder / f"run/{name}.pid")

    def _stray_steps(self):
        """Step daemons that a killed slurmd left, by the configuration in their environment."""
        mark = f"SLURM_CONF={self.conf}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "comm").read_text().startswith("slurmstepd") and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def _start(self, name, command):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise Unavailable(f"{name} does not start here: {done.stderr.strip()[-200:] or self.tail()}")

    def _start_munge(self):
        run = self.folder / "run"
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        self._start("munged", ["munged", "--force", f"--socket={run}/munge.socket", f"--key-file={key}", f"--pid-file={run}/munged.pid",
                               f"--seed-file={run}/munge.seed", f"--log-file={self.folder}/log/munged.log"])

    def tail(self):
        logs = [path.read_text(errors="replace").splitlines()[-2:] for path in sorted((self.folder / "log").glob("*.log"))]
        return " | ".join(line for lines in logs for line in lines)[-400:]

    # --- nodes

    def start_node(self, name):
        # A node that was killed left its own folders locked or in use by dead steps: slurmd clears them.
        slurmd = f"exec slurmd -N {name} -f {self.conf}"
        command = ["unshare", "--uts", "--mount", "sh", "-c", f"hostname {name} && mount -t tmpfs -o size=1g tmpfs /dev/shm && {slurmd}"]
        self._start(f"slurmd of {name}", command if self.isolated else ["sh", "-c", slurmd])
        wait_until(lambda: self._daemon(f"slurmd-{name}"), 10)

    def node_pid(self, name):
        return self._daemon(f"slurmd-{name}")

    def node_namespace(self, name):
        pid = self.node_pid(name)
        space = namespace_of(pid) if pid else None
        return space if space != namespace_of(os.getpid()) else None

    def processes_of(self, namespaces):
        """Every process on these virtual nodes, the slurmd among them."""
        pids = (int(entry.name) for entry in Path("/proc").glob("[0-9]*"))
        return [pid for pid in pids if namespace_of(pid) in namespaces]

    def ranks(self, program="posgeom"):
        """The pids of that program's processes on the virtual nodes."""
        spaces = {space for space in map(self.node_namespace, self.names) if space}
        found = []
        for pid in self.processes_of(spaces):
            try:
                if Path(f"/proc/{pid}/comm").read_text().strip() == program:
                    found.append(pid)
            except OSError:
                continue
        return sorted(found)

    # --- commands

    def run(self, *command, check=True, timeout=60, environment=None, cwd=None):
        done = subprocess.run(command, env={**self.environment, **(environment or {})}, capture_output=True, text=True, timeout=timeout, cwd=cwd,
                              stdin=subprocess.DEVNULL, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def job(self, job_id):
        """scontrol's record of one job or array task, as a dictionary; empty for one that Slurm no longer knows."""
        said = self.run("scontrol", "-o", "show", "job", str(job_id), check=False).stdout.splitlines()
        return dict(field.split("=", 1) for field in said[0].split() if "=" in field) if said else {}

    def _configuration(self):
        control, *ports = free_ports(1 + len(self.names))
        user = getpass.getuser()
        lines = [f"SlurmctldHost={socket.gethostname().split('.')[0]}(127.0.0.1)", f"SlurmUser={user}", f"SlurmdUser={user}"]
        lines += [line.replace("@", str(self.folder)) for line in SETTINGS.strip().splitlines()]
        lines.append(f"SlurmctldPort={control}")
        for name, port in zip(self.names, ports):
            lines.append(f"NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs={CPUS} Boards=1 SocketsPerBoard=1 "
                         f"CoresPerSocket={CPUS} ThreadsPerCore=1 RealMemory={MEMORY} State=UNKNOWN")
        lines.append("PartitionName=work Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=20")
        lines.append("PartitionName=urgent Nodes=ALL MaxTime=60 State=UP PriorityTier=9 PreemptMode=OFF")
        return "\n".join(lines) + "\n"


# cred_expire: a requeued job may not start before its old credential has expired: in two minutes otherwise (and where it is less than 5).
SETTINGS = """
ClusterName=posgeom
AuthType=auth/munge
AuthInfo=socket=@/run/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=@/state
SlurmdSpoolDir=@/spool-%n
TmpFS=@/tmp-%n
SlurmctldPidFile=@/run/slurmctld.pid
SlurmdPidFile=@/run/slurmd-%n.pid
SlurmctldLogFile=@/log/slurmctld.log
SlurmdLogFile=@/log/slurmd-%n.log
SlurmctldDebug=info
SlurmdDebug=info
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
SlurmdParameters=config_overrides
MailProg=/bin/true
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
KillWait=5
MinJobAge=600
InactiveLimit=0
SlurmctldTimeout=30
SlurmdTimeout=60
MessageTimeout=20
JobRequeue=0
DisableRootJobs=NO
EnforcePartLimits=ALL
"""


def main(arguments):
    if arguments[:1] == ["up"]:
        cluster = Cluster(int(arguments[1]) if len(arguments) > 1 else 2)
        try:
            cluster.up()
        except Unavailable as reason:
            cluster.down()
            sys.exit(f"cluster: {reason}")
        print(f"export SLURM_CONF={cluster.conf} PATH=$PATH:/usr/sbin\n# end it with: python3 {__file__} down {cluster.folder} {len(cluster.names)}")
    elif arguments[:1] == ["down"] and len(arguments) > 1:
        Cluster(int(arguments[2]) if len(arguments) > 2 else 2, folder=arguments[1]).down()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
