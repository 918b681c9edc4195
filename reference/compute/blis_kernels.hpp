// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tpc {

// BLIS 0.9 knows AMD's processors by family, up to Zen 3; on later ones it falls back to plain C kernels, at
// a fifth of the speed. This has it take those of the widest vectors that the processor has, unless
// BLIS_ARCH_TYPE is set. Must run before the first call of BLIS and before the first thread. True where it
// changed something.
bool choose_blis_kernels();

}  // namespace tpc
