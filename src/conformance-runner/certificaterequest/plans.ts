// SPDX-License-Identifier: Apache-2.0
import { generatePrivateKey, publicKeyOf } from '../../pki/keys/private-key.ts';
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import {
  CR_KEY_TYPES,
  type CrScene,
  type IssuerRef,
} from '../../conformance/certificaterequest/snapshot.ts';
import {
  encodeOdd,
  subjectOf,
  unknownExtension,
  type OddRequest,
} from '../../conformance/crafted-pkcs10.ts';
import { NO_NAMES, type Asked, type AskedNames } from '../../conformance/observed-request.ts';
import { basicConstraints, subjectAltName } from '../../pki/extensions/encode-extensions.ts';
import { encodePem } from '../../pki/der/pem.ts';
import type { KeyType } from '../../vocabulary.ts';
import type { Kit } from '../run.ts';

export interface CrPlan {
  readonly scene: CrScene | 'burst';
  readonly asked: Asked;
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

interface More extends Partial<Omit<CrPlan, 'asked' | 'scene'>> {
  readonly key?: KeyObject;
  readonly keyType?: KeyType | undefined;
  readonly names?: Partial<AskedNames>;
  readonly usages?: readonly string[];
  readonly lifetimeSeconds?: number | undefined;
  readonly parts?: Partial<OddRequest>;
}

/** Every request of the kit; those that are to be left alone come first. */
export async function crPlans(
  kit: Kit,
  issuerRef: IssuerRef,
  username: string,
): Promise<readonly CrPlan[]> {
  const { profile, run } = kit;
  const names: AskedNames = {
    ...NO_NAMES,
    commonName: profile.commonName.replaceAll('{username}', username),
    organizations: profile.organizations,
    dnsNames: profile.dnsNames,
  };
  const { privateKey } = await generate('rsa', { modulusLength: 1024, publicExponent: 65_537 });

  async function plan(scene: CrPlan['scene'], more: More = {}): Promise<CrPlan> {
    const given = {
      keyType: profile.keyType,
      usages: profile.usages,
      lifetimeSeconds: HOUR,
      ...more,
    };
    const { keyType, usages, lifetimeSeconds, parts, key: own, names: changed, ...rest } = given;
    const key = own ?? (await generatePrivateKey(keyType ?? profile.keyType)).key;
    const asked: Asked = {
      keyType,
      spki: publicKeyOf(key),
      names: { ...names, ...changed },
      usages,
      lifetimeSeconds,
    };
    const request = encodePem('CERTIFICATE REQUEST', requestOf(asked.names, key, parts));
    const ordinary = { issuerRef, treatment: 'approve', isCa: false, saysUsages: true } as const;
    return { scene, request, ...ordinary, ...rest, asked };
  }

  const { key } = await generatePrivateKey(profile.keyType);
  const plain = await plan('plain', { key });
  const others = await Promise.all([
    plan('foreign', { issuerRef: { ...issuerRef, name: `conformance-${run}-nobody` } }),
    plan('otherGroup', { issuerRef: { ...issuerRef, group: `conformance-${run}.example.com` } }),
    plan('unapproved', { treatment: 'leave', names: { commonName: `nobody-${run}` } }),
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

function requestOf(names: AskedNames, key: KeyObject, parts: Partial<OddRequest> = {}): Uint8Array {
  const has = [names.dnsNames, names.ipAddresses, names.uris, names.emails].some(
    (each) => each.length > 0,
  );
  const extensions = [...(has ? [subjectAltName(names, false)] : []), ...(parts.extensions ?? [])];
  return encodeOdd({ subject: subjectOf(names.commonName, names.organizations), extensions, key });
}
