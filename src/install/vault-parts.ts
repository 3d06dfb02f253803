// SPDX-License-Identifier: Apache-2.0
/** The parts of a Deployment that servers of Vault add. */
import type { VaultParts } from './installation-plan.ts';

const VOLUME = 'vault';
const DIRECTORY = '/run/countersign/vault';

/**
 * Seconds, the shortest that the API server accepts. The kubelet replaces a token in time, and
 * the component reads it for each login.
 */
const VAULT_TOKEN_SECONDS = 600;

/**
 * Returns the flags, and the volume with a token for each server. The audience of a token is the
 * URL of its server alone, so neither the API server nor another server accepts it.
 */
export function vaultParts(
  servers: readonly string[],
  flag: '--upstream-vault' | '--vault',
): VaultParts | undefined {
  if (servers.length === 0) return undefined;
  return {
    arguments: servers.map((server, index) => `${flag}=${server}=${DIRECTORY}/${index}`),
    volumes: [
      {
        name: VOLUME,
        projected: {
          sources: servers.map((audience, index) => ({
            serviceAccountToken: {
              audience,
              expirationSeconds: VAULT_TOKEN_SECONDS,
              path: `${index}`,
            },
          })),
        },
      },
    ],
    mounts: [{ name: VOLUME, mountPath: DIRECTORY, readOnly: true }],
  };
}
