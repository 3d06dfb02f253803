// SPDX-License-Identifier: Apache-2.0
import { randomBytes, type KeyObject } from 'node:crypto';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import type { PrepareInput } from '#ca/issuance/prepare.ts';
import { decodePublicKey, type PublicKeyInfo } from '#pki/keys/public-key.ts';
import { certificateAuthority } from './generated.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';

/** One moment for everything: whole seconds, so that it can be compared with certificates. */
export const NOW = Math.floor(Date.now() / 1000) * 1000;

export const random = (size: number): Uint8Array => randomBytes(size);

/** A managed CA of a year, open. */
export async function openAuthority(durationSeconds?: number): Promise<Authority> {
  const wanted = durationSeconds === undefined ? {} : { durationSeconds };
  const material = await certificateAuthority(wanted);
  return openLocalAuthority({ ...material, anchors: undefined }, NOW);
}

export function publicKeyInfo(key: KeyObject = privateKey('P-256', 'leaf')): PublicKeyInfo {
  return decodePublicKey(spkiOf(key));
}

/** A pod's leaf of an hour by this CA; `more` replaces parts. */
export function leafInput(
  { facts }: Authority,
  more: Partial<Omit<PrepareInput, 'issuer'>> = {},
): PrepareInput {
  return {
    issuer: facts,
    validity: { notBefore: NOW - 60_000, notAfter: NOW - 60_000 + 3_600_000 },
    subject: { ...EMPTY_SUBJECT, uris: ['spiffe://cluster.local/ns/team-a/sa/web'] },
    publicKey: publicKeyInfo(),
    usages: ['digital signature', 'client auth', 'server auth'],
    random,
    ...more,
  };
}
