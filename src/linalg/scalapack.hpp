#pragma once
// The C and Fortran interfaces of BLACS, PBLAS, ScaLAPACK, BLAS and LAPACK that posgeom calls; the libraries come without headers for C++.
// Integers are 32-bit (LP64): callers narrow with narrow_to_int. Fortran routines take the lengths of their character arguments last, by
// value.
#include <cstddef>

#include "posgeom/mpi/communicator.hpp"  // MPI_Comm

namespace posgeom::scalapack {
extern "C" {

// BLACS
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);

// PBLAS: sub(C) = alpha op(sub(A)) op(sub(B)) + beta sub(C); ia, ja, ... are the first row and column of each, from 1
void pdgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* a_descriptor, const double* b, const int* ib, const int* jb,
             const int* b_descriptor, const double* beta, double* c, const int* ic, const int* jc, const int* c_descriptor);

// ScaLAPACK
void pdsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* a_descriptor, double* w,
              double* z, const int* iz, const int* jz, const int* z_descriptor, double* work, const int* lwork, int* iwork,
              const int* liwork, int* info, std::size_t job_length, std::size_t uplo_length);
void pdormtr_(const char* side, const char* uplo, const char* transpose, const int* m, const int* n, const double* a, const int* ia,
              const int* ja, const int* a_descriptor, const double* tau, double* c, const int* ic, const int* jc, const int* c_descriptor,
              double* work, const int* lwork, int* info, std::size_t side_length, std::size_t uplo_length, std::size_t transpose_length);
void pdsytrd_(const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* a_descriptor, double* d, double* e,
              double* tau, double* work, const int* lwork, int* info, std::size_t uplo_length);
void pdstedc_(const char* compz, const int* n, double* d, double* e, double* q, const int* iq, const int* jq, const int* q_descriptor,
              double* work, const int* lwork, int* iwork, const int* liwork, int* info, std::size_t compz_length);
void pdgemr2d_(const int* m, const int* n, const double* a, const int* ia, const int* ja, const int* a_descriptor, double* b, const int* ib,
               const int* jb, const int* b_descriptor, const int* context);
int numroc_(const int* n, const int* block, const int* process, const int* source, const int* processes);
int indxl2g_(const int* local, const int* block, const int* process, const int* source, const int* processes);
int indxg2l_(const int* global, const int* block, const int* process, const int* source, const int* processes);
int indxg2p_(const int* global, const int* block, const int* process, const int* source, const int* processes);

// BLAS
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);

// LAPACK
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work, const int* lwork,
             int* iwork, const int* liwork, int* info, std::size_t job_length, std::size_t uplo_length);
void dgesdd_(const char* job, const int* m, const int* n, double* a, const int* lda, double* s, double* u, const int* ldu, double* vt,
             const int* ldvt, double* work, const int* lwork, int* iwork, int* info, std::size_t job_length);
void dsytrd_(const char* uplo, const int* n, double* a, const int* lda, double* d, double* e, double* tau, double* work, const int* lwork,
             int* info, std::size_t uplo_length);
void dsterf_(const int* n, double* d, double* e, int* info);
void dsteqr_(const char* compz, const int* n, double* d, double* e, double* z, const int* ldz, double* work, int* info,
             std::size_t compz_length);
void dstemr_(const char* job, const char* range, const int* n, double* d, double* e, const double* vl, const double* vu, const int* il,
             const int* iu, int* found, double* w, double* z, const int* ldz, const int* room, int* support, int* try_relative,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, std::size_t job_length, std::size_t range_length);
void dormtr_(const char* side, const char* uplo, const char* transpose, const int* m, const int* n, const double* a, const int* lda,
             const double* tau, double* c, const int* ldc, double* work, const int* lwork, int* info, std::size_t side_length,
             std::size_t uplo_length, std::size_t transpose_length);
}
}  // namespace posgeom::scalapack
