// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { createExchange, type CallLimits, type Exchange } from '#base/egress/exchange.ts';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import type { VaultPlace } from '#api/signer/upstream-vault.ts';

/** The servers that an installation lists, and the way to them. */
export interface VaultAccess {
  /** File with the token of our ServiceAccount for each server. */
  readonly tokenFiles: ReadonlyMap<string, string>;
  readonly readToken: (file: string) => Promise<string>;
  readonly open: (vault: Pick<VaultPlace, 'caBundle'>) => Exchange;
}

/** Settings of {@link vaultAccess}. */
export interface VaultAccessInit {
  readonly userAgent: string;
  /** Proxy of the environment. */
  readonly proxy: EgressProxy | undefined;
  /** Default: {@link VAULT_LIMITS}. */
  readonly limits?: CallLimits;
}

/**
 * Limits of one call. Vault signs within a second. A chain of the greatest length is three times in
 * an answer: `issuing_ca` and `ca_chain` repeat it.
 */
const VAULT_LIMITS: CallLimits = {
  connectMs: 5_000,
  silenceMs: 15_000,
  totalMs: 20_000,
  maxBytes: 262_144,
};

/**
 * Returns the way to these servers. An administrator lists them, so they may be in a private
 * network. TLS verifies each by the CAs of the signer's spec. Redirects are not followed.
 */
export function vaultAccess(
  tokenFiles: ReadonlyMap<string, string>,
  { userAgent, proxy, limits = VAULT_LIMITS }: VaultAccessInit,
): VaultAccess {
  return {
    tokenFiles,
    readToken: (file) => readFile(file, 'utf8'),
    open: ({ caBundle }) => createExchange({ ca: caBundle, userAgent, limits, proxy }),
  };
}
