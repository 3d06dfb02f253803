// SPDX-License-Identifier: Apache-2.0
/**
 * Gives every property the same random values in each run of `make unit`, so that a failure comes
 * back. A file that runs alone takes other values each time.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 });
