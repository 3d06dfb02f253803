// SPDX-License-Identifier: Apache-2.0
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import {
  encodeOdd,
  otherName,
  secondName,
  subjectOf,
  unknownExtension,
  userId,
  type OddRequest,
} from '../../conformance/crafted-pkcs10.ts';
import type { CsrScene } from '../../conformance/csr/snapshot.ts';
import { NO_NAMES, type Asked, type AskedNames } from '../../conformance/observed-request.ts';
import { basicConstraints, extKeyUsage, keyUsage } from '../../pki/extensions/encode-extensions.ts';
import { OID_CODE_SIGNING } from '../../pki/der/oids.ts';
import { encodePem } from '../../pki/der/pem.ts';
import { encodeRequest } from '../../pki/x509/pkcs10.ts';
import { generatePrivateKey, publicKeyOf } from '../../pki/keys/private-key.ts';
import { KEY_TYPES, type KeyType } from '../../vocabulary.ts';
import type { Kit } from '../run.ts';

/** What the kit does with a request when it is made. */
export type Treatment = 'approve' | 'leave' | 'deny' | 'delete';

export interface CsrPlan {
  readonly scene: CsrScene | 'burst';
  readonly asked: Asked;
  /** PEM. */
  readonly request: string;
  readonly key: KeyObject;
  readonly signerName: string;
  readonly treatment: Treatment;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const HOUR = 3600;
/** `expirationSeconds` that no signer should give. */
const TEN_YEARS = 10 * 365 * 24 * HOUR;
/** The least that the API takes. */
const TEN_MINUTES = 600;

const generate = promisify(generateKeyPair);

type More = Partial<Omit<CsrPlan, 'asked'>> & { readonly asked?: Partial<Asked> };

/** Every request of the kit but the burst; those that are to be left alone come first. */
export async function csrPlans(kit: Kit, username: string): Promise<readonly CsrPlan[]> {
  const { profile, run, signerName } = kit;
  const keys = new Map(
    await Promise.all(
      KEY_TYPES.map(async (type) => [type, (await generatePrivateKey(type)).key] as const),
    ),
  );
  const names = plainNames(kit, username);
  const spare = await generatePrivateKey(profile.keyType);

  function plain(scene: CsrPlan['scene'], more: More = {}): CsrPlan {
    const keyType = more.asked?.keyType ?? profile.keyType;
    const key = more.key ?? keys.get(keyType) ?? spare.key;
    const asked = ordinary(kit, names, key, { keyType, ...more.asked });
    const request = more.request ?? encodePem('CERTIFICATE REQUEST', requestOf(asked.names, key));
    return { scene, key, signerName, treatment: 'approve', ...more, asked, request };
  }

  function odd(scene: CsrScene, parts: Partial<OddRequest>, more: More = {}): CsrPlan {
    const { key } = spare;
    const subject = parts.subject ?? subjectOf(names.commonName, names.organizations);
    const request = encodePem('CERTIFICATE REQUEST', encodeOdd({ ...parts, subject, key }));
    return plain(scene, { ...more, key, request });
  }

  const usages = (...added: readonly string[]): More => ({
    asked: { usages: [...profile.usages, ...added] },
  });
  const lifetime = (lifetimeSeconds: number | undefined): More => ({ asked: { lifetimeSeconds } });
  const named = (more: Partial<AskedNames>): More => ({ asked: { names: { ...names, ...more } } });
  const first = plain('plain');
  const rsa1024 = await generate('rsa', { modulusLength: 1024, publicExponent: 65_537 });
  const weak: More = { key: rsa1024.privateKey, asked: { keyType: undefined } };
  return [
    plain('foreign', { signerName: `conformance-${run}.example.com/nobody` }),
    plain('longerName', { signerName: `${signerName}-${run}` }),
    plain('unapproved', { treatment: 'leave', ...named({ commonName: `nobody-${run}` }) }),
    plain('denied', { treatment: 'deny' }),
    plain('deleted', { treatment: 'delete' }),
    first,
    plain('again', { request: first.request }),
    plain('annotated', {
      labels: { 'conformance.example.com/unknown': 'label' },
      annotations: { 'conformance.example.com/unknown': 'annotation' },
    }),
    plain('tenMinutes', lifetime(TEN_MINUTES)),
    plain('tenYears', lifetime(TEN_YEARS)),
    plain('noLifetime', lifetime(undefined)),
    plain('certSign', usages('cert sign')),
    plain('anyUsage', usages('any')),
    plain('encipherment', { asked: { keyType: 'ECDSAP256', ...usages('key encipherment').asked } }),
    plain('alternativeNames', named(ALTERNATIVE_NAMES)),
    plain('masters', named({ organizations: ['system:masters'] })),
    plain('kubeadm', named({ organizations: ['kubeadm:cluster-admins'] })),
    plain('systemUser', named({ commonName: 'system:conformance' })),
    odd('userId', { subject: subjectOf(names.commonName, names.organizations, [userId('0')]) }),
    odd('otherName', { extensions: [otherName('conformance@example.com')] }),
    odd('twoNames', {
      subject: subjectOf(names.commonName, names.organizations, [secondName('second')]),
    }),
    odd('authorityExtension', { extensions: [basicConstraints({ ca: true })] }),
    odd('usageExtension', { extensions: [keyUsage(['digitalSignature', 'keyCertSign'])] }),
    odd('purposeExtension', { extensions: [extKeyUsage([OID_CODE_SIGNING])] }),
    odd('unknownExtension', { extensions: [unknownExtension()] }),
    plain('twoBlocks', {
      request: first.request + encodePem('CERTIFICATE REQUEST', requestOf(names, spare.key)),
    }),
    plain('RSA1024', weak),
    ...KEY_TYPES.map((keyType: KeyType) => plain(keyType, { asked: { keyType } })),
  ];
}

/** Requests that are made at once: enough to meet each other, too few to be a load. */
const BURST = 10;

export async function csrBurst(kit: Kit, username: string): Promise<readonly CsrPlan[]> {
  const names = plainNames(kit, username);
  return Promise.all(
    Array.from({ length: BURST }, async () => {
      const { key } = await generatePrivateKey(kit.profile.keyType);
      const asked = ordinary(kit, names, key, {});
      const request = encodePem('CERTIFICATE REQUEST', requestOf(names, key));
      const { signerName } = kit;
      return {
        scene: 'burst' as const,
        asked,
        request,
        key,
        signerName,
        treatment: 'approve' as const,
      };
    }),
  );
}

function plainNames({ profile }: Kit, username: string): AskedNames {
  const commonName = profile.commonName.replaceAll('{username}', username);
  const { organizations, dnsNames } = profile;
  return { ...NO_NAMES, commonName, organizations, dnsNames };
}

function ordinary(kit: Kit, names: AskedNames, key: KeyObject, more: Partial<Asked>): Asked {
  const { keyType, usages } = kit.profile;
  return { keyType, spki: publicKeyOf(key), names, usages, lifetimeSeconds: HOUR, ...more };
}

/** Addresses and names that are documentation's own (RFC 2606, RFC 5737). */
const ALTERNATIVE_NAMES = {
  dnsNames: ['conformance.example.com'],
  ipAddresses: ['192.0.2.1'],
  uris: ['https://conformance.example.com/a'],
  emails: ['conformance@example.com'],
};

function requestOf(names: AskedNames, key: KeyObject): Uint8Array {
  return encodeRequest({ subject: { ...names, organizationalUnits: [] }, sans: names, key });
}
