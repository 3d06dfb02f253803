// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import type { Flag } from '#component/flag.ts';
import { DANGER_ZONE_FLAG } from '../operator/flags.ts';

/**
 * The flags that the administrator sets, beyond the control of authors of a CertManagerDeployment.
 */
export interface CertManagerOperatorFlags {
  /** Version → SHA-256. */
  readonly allowRelease: Readonly<Record<string, string>>;
  readonly allowDangerZone: boolean;
}

/** The flag of the component and of `countersign rbac`. */
export const RELEASE_FLAG: Flag = {
  flag: '--allow-release <version>=<sha256>',
  help: 'another release of cert-manager to allow, by the checksum in the rejection (repeatable); choosing it grants cluster-admin',
  add: addRelease,
  default: {},
};

/** {@link CertManagerOperatorFlags} */
export const CERT_MANAGER_OPERATOR_FLAGS: readonly Flag[] = [RELEASE_FLAG, DANGER_ZONE_FLAG];

/** @throws SignerError USAGE */
function addRelease(
  before: Readonly<Record<string, string>>,
  text: string,
): Readonly<Record<string, string>> {
  const [, version, sum] = /^(\d{1,9}\.\d{1,9}\.\d{1,9})=([0-9a-f]{64})$/.exec(text) ?? [];
  if (version !== undefined && sum !== undefined) return { ...before, [version]: sum };
  throw usageError('write <version>=<64 hexadecimal digits>, such as 1.21.3=0f…');
}
