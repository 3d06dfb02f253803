// SPDX-License-Identifier: Apache-2.0
import type { Flag } from '#component/flag.ts';

/** The flag of components that sign with keys in a key holder. */
export interface KeyHolderFlags {
  /** Path of the holder's socket. */
  readonly keyHolder?: string;
}

/** {@link KeyHolderFlags} */
export const KEY_HOLDER_FLAG: Flag = {
  flag: '--key-holder <socket>',
  help: 'Unix socket of the key holder with the keys of spec.authority.keyHolder (default: none)',
};
