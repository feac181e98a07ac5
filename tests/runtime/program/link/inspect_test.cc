#include "runtime/program/link/inspect.h"

#include <doctest/doctest.h>

using namespace purlin;

TEST_CASE("instructions are told by name, with and without a predicate") {
  const MachineCode code = count_instructions(R"(
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x37c] ;
        /*0010*/              @!P0 CALL.REL.NOINC `(.L_x_0) ;
        /*0020*/                   LDL.64 R2, [R1] ;
        /*0030*/             @UP1  STL [R1+0x4], R2 ;
        /*0040*/                   FFMA R3, R2, R1, R0 ;
        /*0050*/                   FMUL R3, R2, R1 ;
        /*0060*/                   ST.E.128.STRONG.SYS desc[UR4][R2.64], R4 ;
        /*0070*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0080*/                   FADD R3, R2, R1 ;
        /*0090*/                   CALL.REL.NOINC `($__internal_0_$__cuda_sm70_warpsync) ;
        /*00a0*/                   CALL.REL.NOINC `(purlin_reduce16_d2) ;
)");
  CHECK(code.instructions == 11);
  CHECK(code.calls == 1);  // neither the label nor the assembler's own
  CHECK(code.f32_sums == 1);
  CHECK(code.noncoherent == 1);
  CHECK(code.local == 2);
  CHECK(code.contractions == 1);
  CHECK(code.system_128 == 1);
}

TEST_CASE("contractions are told in PTX") {
  CHECK(contractions("fma.rn.f32 %f1, %f2, %f3, %f4; mul.f32 a; add.f32 b; fma.rn.bf16x2 c;") == 2);
}

TEST_CASE("non-coherent loads are told in PTX, in every spelling") {
  CHECK(noncoherent_loads("ld.global.nc.v4.u32 {%r1}, [%rd1];") == 1);
  CHECK(noncoherent_loads("ld.global.nc.u32 a; ld.global.ca.nc.u64 b;") == 2);
  CHECK(noncoherent_loads("ld.global.v4.u32 {%r1}, [%rd1]; ld.relaxed.sys.global.u64 a;") == 0);
}
