// SPDX-License-Identifier: Apache-2.0
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { decodePublicKey, type PublicKeyInfo } from '#pki/keys/public-key.ts';
import {
  AUTHORITY_KEY_TYPES,
  type AuthorityKeyType,
  type KeyType,
  type KeyUsage,
  LEAF_USAGES,
  type LeafSubject,
} from '#base/vocabulary.ts';
import { certificateAuthority } from '../support/ca/generated.ts';
import { NOW, random } from '../support/ca/issuing.ts';
import type { Dice } from './dice.ts';

const HOUR_MS = 3_600_000;

/** What leaves are for, and whom they name. */
export interface LeafKind {
  readonly usages: readonly KeyUsage[];
  readonly subject: (dice: Dice) => Partial<LeafSubject>;
}

const label = (dice: Dice): string => `n${dice.roll(1e9).toString(36)}`;
const host = (dice: Dice): string => `${label(dice)}.${label(dice)}.svc`;
const some = <T>(dice: Dice, make: (dice: Dice) => T): readonly T[] =>
  Array.from({ length: 1 + dice.roll(4) }, () => make(dice));

const PEOPLE = ['dev', 'ops team', 'Büro', '開発', 'a,b+c="d"', "O'Neill & Sons", 'x@y'] as const;

/** As the examples of deploy/examples have them, and what else a profile can be. */
export const LEAF_KINDS: Readonly<Record<string, LeafKind>> = {
  workload: {
    usages: ['digital signature', 'client auth', 'server auth'],
    subject: (dice) => ({ uris: [`spiffe://cluster.local/ns/${label(dice)}/sa/${label(dice)}`] }),
  },
  serving: {
    usages: ['digital signature', 'key encipherment', 'server auth'],
    subject: (dice) => ({
      commonName: label(dice),
      dnsNames: [...some(dice, host), `*.${host(dice)}`],
      ipAddresses: [`10.${dice.roll(256)}.${dice.roll(256)}.1`, `2001:db8::${dice.roll(9) + 1}`],
    }),
  },
  people: {
    usages: ['digital signature', 'client auth'],
    subject: (dice) => ({
      commonName: `${dice.of(PEOPLE)} ${label(dice)}`,
      organizations: [...new Set(some(dice, () => dice.of(PEOPLE)))],
    }),
  },
  mail: {
    usages: ['digital signature', 'content commitment', 'key agreement', 's/mime'],
    subject: (dice) => ({
      organizationalUnits: some(dice, label),
      emails: some(dice, (each) => `${label(each)}@${host(each)}`),
    }),
  },
  everything: {
    usages: LEAF_USAGES,
    subject: (dice) => ({
      commonName: label(dice),
      organizations: some(dice, label),
      dnsNames: some(dice, host),
      ipAddresses: ['192.0.2.1'],
      uris: [`https://${host(dice)}/a?b=${dice.roll(9)}`],
      emails: [`${label(dice)}@${host(dice)}`],
    }),
  },
};

const LEAF_KEYS: Readonly<Record<KeyType, () => KeyObject>> = {
  RSA2048: () => generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey,
  RSA3072: () => generateKeyPairSync('rsa', { modulusLength: 3072 }).publicKey,
  RSA4096: () => generateKeyPairSync('rsa', { modulusLength: 4096 }).publicKey,
  ECDSAP256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey,
  ECDSAP384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey,
  ECDSAP521: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey,
  ED25519: () => generateKeyPairSync('ed25519').publicKey,
};

export type Issue = (kind: LeafKind, dice: Dice) => Promise<Uint8Array>;

/** One of each type is enough, and RSA keys take their time. */
const made = new Map<KeyType, PublicKeyInfo>();

function keyOf(keyType: KeyType): PublicKeyInfo {
  const spki = (): Buffer => LEAF_KEYS[keyType]().export({ type: 'spki', format: 'der' });
  const key = made.get(keyType) ?? decodePublicKey(new Uint8Array(spki()));
  made.set(keyType, key);
  return key;
}

/** Issues leaves with one key of this type by this CA, as the signer does. */
export function issuerOf(authority: Authority, keyType: KeyType): Issue {
  const publicKey = keyOf(keyType);
  const { signal } = new AbortController();
  return ({ usages, subject }, dice) => {
    const notBefore = NOW - 60_000;
    const prepared = prepare({
      issuer: authority.facts,
      validity: { notBefore, notAfter: notBefore + (1 + dice.roll(24)) * HOUR_MS },
      subject: { ...EMPTY_SUBJECT, ...subject(dice) },
      publicKey,
      usages,
      random,
    });
    return authority.sign(prepared, signal);
  };
}

/** A managed CA of every type of key. */
export async function openAuthorities(): Promise<ReadonlyMap<AuthorityKeyType, Authority>> {
  const opened = AUTHORITY_KEY_TYPES.map(async (keyType) => {
    const material = await certificateAuthority({ keyType });
    return [keyType, openLocalAuthority({ ...material, anchors: undefined }, NOW)] as const;
  });
  return new Map(await Promise.all(opened));
}
