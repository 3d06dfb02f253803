// SPDX-License-Identifier: Apache-2.0
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import {
  encodeCraftedRequest,
  otherName,
  secondCommonName,
  subjectOf,
  unknownExtension,
  userUid,
  type CraftedRequest,
} from '../../conformance/crafted-pkcs10.ts';
import type { CsrScenario } from '../../conformance/csr/snapshot.ts';
import {
  NO_NAMES,
  type RequestedLeaf,
  type LeafNames,
} from '../../conformance/observed-request.ts';
import { basicConstraints, extKeyUsage, keyUsage } from '../../pki/extensions/encode-extensions.ts';
import { OID_CODE_SIGNING } from '../../pki/der/oids.ts';
import { encodePem } from '../../pki/der/pem.ts';
import { encodeRequest } from '../../pki/x509/pkcs10.ts';
import { generatePrivateKey, publicKeyOf } from '../../pki/keys/private-key.ts';
import { KEY_TYPES, type KeyType } from '../../vocabulary.ts';
import type { Run } from '../run.ts';

/** What the runner does with a request when it is made. */
export type Treatment = 'approve' | 'leave' | 'deny' | 'delete';

export interface CsrPlan {
  readonly scenario: CsrScenario | 'burst';
  readonly requested: RequestedLeaf;
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

type More = Partial<Omit<CsrPlan, 'requested'>> & { readonly requested?: Partial<RequestedLeaf> };

/** Every request of the runner but the burst; those that are to be left alone come first. */
export async function csrPlans(run: Run, username: string): Promise<readonly CsrPlan[]> {
  const { profile, signerName } = run;
  const keys = new Map(
    await Promise.all(
      KEY_TYPES.map(async (type) => [type, (await generatePrivateKey(type)).key] as const),
    ),
  );
  const names = plainNames(run, username);
  const spare = await generatePrivateKey(profile.keyType);

  function plain(scenario: CsrPlan['scenario'], more: More = {}): CsrPlan {
    const keyType = more.requested?.keyType ?? profile.keyType;
    const key = more.key ?? keys.get(keyType) ?? spare.key;
    const requested = ordinary(run, names, key, { keyType, ...more.requested });
    const request =
      more.request ?? encodePem('CERTIFICATE REQUEST', requestOf(requested.names, key));
    return { scenario, key, signerName, treatment: 'approve', ...more, requested, request };
  }

  function odd(scenario: CsrScenario, parts: Partial<CraftedRequest>, more: More = {}): CsrPlan {
    const { key } = spare;
    const subject = parts.subject ?? subjectOf(names.commonName, names.organizations);
    const request = encodePem(
      'CERTIFICATE REQUEST',
      encodeCraftedRequest({ ...parts, subject, key }),
    );
    return plain(scenario, { ...more, key, request });
  }

  const usages = (...added: readonly string[]): More => ({
    requested: { usages: [...profile.usages, ...added] },
  });
  const lifetime = (lifetimeSeconds: number | undefined): More => ({
    requested: { lifetimeSeconds },
  });
  const named = (more: Partial<LeafNames>): More => ({
    requested: { names: { ...names, ...more } },
  });
  const first = plain('plain');
  const rsa1024 = await generate('rsa', { modulusLength: 1024, publicExponent: 65_537 });
  const weak: More = { key: rsa1024.privateKey, requested: { keyType: undefined } };
  return [
    plain('foreign', { signerName: `conformance-${run.id}.example.com/nobody` }),
    plain('longerName', { signerName: `${signerName}-${run.id}` }),
    plain('unapproved', { treatment: 'leave', ...named({ commonName: `nobody-${run.id}` }) }),
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
    plain('encipherment', {
      requested: { keyType: 'ECDSAP256', ...usages('key encipherment').requested },
    }),
    plain('alternativeNames', named(ALTERNATIVE_NAMES)),
    plain('masters', named({ organizations: ['system:masters'] })),
    plain('kubeadm', named({ organizations: ['kubeadm:cluster-admins'] })),
    plain('systemUser', named({ commonName: 'system:conformance' })),
    odd('userId', { subject: subjectOf(names.commonName, names.organizations, [userUid('0')]) }),
    odd('otherName', { extensions: [otherName('conformance@example.com')] }),
    odd('twoNames', {
      subject: subjectOf(names.commonName, names.organizations, [secondCommonName('second')]),
    }),
    odd('authorityExtension', { extensions: [basicConstraints({ ca: true })] }),
    odd('usageExtension', { extensions: [keyUsage(['digitalSignature', 'keyCertSign'])] }),
    odd('purposeExtension', { extensions: [extKeyUsage([OID_CODE_SIGNING])] }),
    odd('unknownExtension', { extensions: [unknownExtension()] }),
    plain('twoBlocks', {
      request: first.request + encodePem('CERTIFICATE REQUEST', requestOf(names, spare.key)),
    }),
    plain('RSA1024', weak),
    ...KEY_TYPES.map((keyType: KeyType) => plain(keyType, { requested: { keyType } })),
  ];
}

/** Requests that are made at once: enough to meet each other, too few to be a load. */
const BURST = 10;

export async function csrBurst(run: Run, username: string): Promise<readonly CsrPlan[]> {
  const names = plainNames(run, username);
  return Promise.all(
    Array.from({ length: BURST }, async () => {
      const { key } = await generatePrivateKey(run.profile.keyType);
      const requested = ordinary(run, names, key, {});
      const request = encodePem('CERTIFICATE REQUEST', requestOf(names, key));
      const { signerName } = run;
      return {
        scenario: 'burst' as const,
        requested,
        request,
        key,
        signerName,
        treatment: 'approve' as const,
      };
    }),
  );
}

function plainNames({ profile }: Run, username: string): LeafNames {
  const commonName = profile.commonName.replaceAll('{username}', username);
  const { organizations, dnsNames } = profile;
  return { ...NO_NAMES, commonName, organizations, dnsNames };
}

function ordinary(
  run: Run,
  names: LeafNames,
  key: KeyObject,
  more: Partial<RequestedLeaf>,
): RequestedLeaf {
  const { keyType, usages } = run.profile;
  return { keyType, spki: publicKeyOf(key), names, usages, lifetimeSeconds: HOUR, ...more };
}

/** Addresses and names that are documentation's own (RFC 2606, RFC 5737). */
const ALTERNATIVE_NAMES = {
  dnsNames: ['conformance.example.com'],
  ipAddresses: ['192.0.2.1'],
  uris: ['https://conformance.example.com/a'],
  emails: ['conformance@example.com'],
};

function requestOf(names: LeafNames, key: KeyObject): Uint8Array {
  return encodeRequest({ subject: { ...names, organizationalUnits: [] }, sans: names, key });
}
