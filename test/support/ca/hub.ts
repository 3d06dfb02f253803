// SPDX-License-Identifier: Apache-2.0
/** The CA of a hub, and the CAs of members that it signs. */
import { randomBytes } from 'node:crypto';
import type { Authority, AuthorityMaterial } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { NOW } from './issuing.ts';

const YEAR_SECONDS = 365 * 24 * 3_600;

export interface Hub {
  readonly material: AuthorityMaterial;
  readonly authority: Authority;
}

/** A new CA of a hub, open. `certifiesCas` false: as a signer of leaves has it. */
export async function openHub(
  wanted: { readonly certifiesCas?: boolean; readonly durationSeconds?: number } = {},
): Promise<Hub> {
  const material = await createManagedAuthorities((size) => randomBytes(size))({
    keyType: 'ECDSAP256',
    commonName: 'Fleet CA',
    durationSeconds: wanted.durationSeconds ?? YEAR_SECONDS,
    crossSigned: wanted.certifiesCas ?? true,
    now: NOW,
  });
  return { material, authority: openLocalAuthority(material, NOW) };
}
