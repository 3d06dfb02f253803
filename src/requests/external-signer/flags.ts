// SPDX-License-Identifier: Apache-2.0
import { addVault } from '#component/vault/flag.ts';
import type { Flag } from '#component/flag.ts';

/** Flags of `external-signer`. */
export interface ExternalFlags {
  /** Server of Vault → file with the token for it. */
  readonly vault?: ReadonlyMap<string, string>;
  readonly keptChains?: string;
}

/** {@link ExternalFlags} */
export const EXTERNAL_FLAGS: readonly Flag[] = [
  {
    flag: '--vault <server=file>',
    help: 'server of Vault that ExternalClusterSigners may name, and the file with the token for it (repeatable)',
    add: addVault,
  },
  {
    flag: '--kept-chains <directory>',
    help: 'directory for returned chains until they are delivered (default: memory only)',
  },
];
