// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { correspond } from '#ca/issuance/correspond.ts';
import { prepare, type PrepareInput } from '#ca/issuance/prepare.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { random } from '../../support/ca/issuing.ts';

/** Properties try the same inputs in every run: what fails once fails for everybody. */
export const SEED = 20261121;

/** A fresh managed CA that was made `age` seconds before `now` for so many seconds. */
export async function authorityOf(init: {
  readonly now: number;
  readonly age: number;
  readonly durationSeconds: number;
}): Promise<Authority> {
  const { now, age, durationSeconds } = init;
  const born = now - age * 1000;
  const material = await createManagedAuthorities(random)({
    keyType: 'ECDSAP256',
    commonName: 'Property CA',
    durationSeconds,
    now: born,
  });
  return openLocalAuthority(material, born);
}

/**
 * Lines 7 to 9 of the issuance cycle, as the components do them; the leaf by node:crypto's reader.
 */
export async function issuedLeaf(
  authority: Authority,
  plan: Omit<PrepareInput, 'issuer' | 'random'>,
  now: number,
): Promise<X509Certificate> {
  const { facts } = authority;
  const prepared = prepare({ ...plan, issuer: facts, random });
  prepared.requirePath(facts, now);
  const der = await authority.sign(prepared, new AbortController().signal);
  correspond(prepared, { leaf: decodeCertificate(der), ...facts }, now);
  return new X509Certificate(der);
}
