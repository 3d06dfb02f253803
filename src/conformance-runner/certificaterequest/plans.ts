// SPDX-License-Identifier: Apache-2.0
import { generatePrivateKey, publicKeyOf } from '../../pki/keys/private-key.ts';
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import {
  CR_KEY_TYPES,
  type CrScenario,
  type IssuerRef,
} from '../../conformance/certificaterequest/snapshot.ts';
import {
  encodeCraftedRequest,
  subjectOf,
  unknownExtension,
  type CraftedRequest,
} from '../../conformance/crafted-pkcs10.ts';
import {
  NO_NAMES,
  type RequestedLeaf,
  type LeafNames,
} from '../../conformance/observed-request.ts';
import { basicConstraints, subjectAltName } from '../../pki/extensions/encode-extensions.ts';
import { encodePem } from '../../pki/der/pem.ts';
import type { KeyType } from '../../vocabulary.ts';
import type { Run } from '../run.ts';

export interface CrPlan {
  readonly scenario: CrScenario | 'burst';
  readonly requested: RequestedLeaf;
  /** PEM. */
  readonly request: string;
  readonly issuerRef: IssuerRef;
  readonly treatment: 'approve' | 'leave' | 'deny';
  readonly isCa: boolean;
  /** False: `spec.usages` is left out. */
  readonly saysUsages: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
}

const HOUR = 3600;
const TEN_YEARS = 10 * 365 * 24 * HOUR;
const BURST = 10;
const generate = promisify(generateKeyPair);

interface More extends Partial<Omit<CrPlan, 'requested' | 'scenario'>> {
  readonly key?: KeyObject;
  readonly keyType?: KeyType | undefined;
  readonly names?: Partial<LeafNames>;
  readonly usages?: readonly string[];
  readonly lifetimeSeconds?: number | undefined;
  readonly parts?: Partial<CraftedRequest>;
}

/** Every request of the run; those that are to be left alone come first. */
export async function crPlans(
  run: Run,
  issuerRef: IssuerRef,
  username: string,
): Promise<readonly CrPlan[]> {
  const { profile } = run;
  const names: LeafNames = {
    ...NO_NAMES,
    commonName: profile.commonName.replaceAll('{username}', username),
    organizations: profile.organizations,
    dnsNames: profile.dnsNames,
  };
  const { privateKey } = await generate('rsa', { modulusLength: 1024, publicExponent: 65_537 });

  async function plan(scenario: CrPlan['scenario'], more: More = {}): Promise<CrPlan> {
    const given = {
      keyType: profile.keyType,
      usages: profile.usages,
      lifetimeSeconds: HOUR,
      ...more,
    };
    const { keyType, usages, lifetimeSeconds, parts, key: own, names: changed, ...rest } = given;
    const key = own ?? (await generatePrivateKey(keyType ?? profile.keyType)).key;
    const requested: RequestedLeaf = {
      keyType,
      spki: publicKeyOf(key),
      names: { ...names, ...changed },
      usages,
      lifetimeSeconds,
    };
    const request = encodePem('CERTIFICATE REQUEST', requestOf(requested.names, key, parts));
    const ordinary = { issuerRef, treatment: 'approve', isCa: false, saysUsages: true } as const;
    return { scenario, request, ...ordinary, ...rest, requested };
  }

  const { key } = await generatePrivateKey(profile.keyType);
  const plain = await plan('plain', { key });
  const others = await Promise.all([
    plan('foreign', { issuerRef: { ...issuerRef, name: `conformance-${run.id}-nobody` } }),
    plan('otherGroup', { issuerRef: { ...issuerRef, group: `conformance-${run.id}.example.com` } }),
    plan('unapproved', { treatment: 'leave', names: { commonName: `nobody-${run.id}` } }),
    plan('denied', { treatment: 'deny' }),
    plan('again', { key, request: plain.request }),
    plan('annotated', { annotations: { 'conformance.example.com/unknown': 'annotation' } }),
    plan('tenYears', { lifetimeSeconds: TEN_YEARS }),
    plan('noDuration', { lifetimeSeconds: undefined }),
    plan('defaultUsages', { usages: ['digital signature', 'key encipherment'], saysUsages: false }),
    plan('isCa', { isCa: true, usages: [...profile.usages, 'cert sign'] }),
    plan('certSign', { usages: [...profile.usages, 'cert sign'] }),
    plan('alternativeNames', {
      names: {
        dnsNames: ['conformance.example.com'],
        ipAddresses: ['192.0.2.1'],
        uris: ['https://conformance.example.com/a'],
      },
    }),
    plan('masters', { names: { organizations: ['system:masters'] } }),
    plan('systemUser', { names: { commonName: 'system:conformance' } }),
    plan('authorityExtension', { parts: { extensions: [basicConstraints({ ca: true })] } }),
    plan('unknownExtension', { parts: { extensions: [unknownExtension()] } }),
    plan('RSA1024', { key: privateKey, keyType: undefined }),
    ...CR_KEY_TYPES.map((keyType) => plan(keyType, { keyType })),
    ...Array.from({ length: BURST }, () => plan('burst')),
  ]);
  return [...others, plain];
}

function requestOf(
  names: LeafNames,
  key: KeyObject,
  parts: Partial<CraftedRequest> = {},
): Uint8Array {
  const has = [names.dnsNames, names.ipAddresses, names.uris, names.emails].some(
    (each) => each.length > 0,
  );
  const extensions = [...(has ? [subjectAltName(names, false)] : []), ...(parts.extensions ?? [])];
  return encodeCraftedRequest({
    subject: subjectOf(names.commonName, names.organizations),
    extensions,
    key,
  });
}
