// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import {
  encodeCraftedRequest,
  otherName,
  secondCommonName,
  subjectOf,
  unknownExtension,
  userUid,
  type CraftedRequest,
} from '#conformance/crafted-pkcs10.ts';
import type { CsrScenario } from '#conformance/csr/snapshot.ts';
import { type RequestedLeaf, type LeafNames } from '#conformance/observed-request.ts';
import { basicConstraints, extKeyUsage, keyUsage } from '#pki/extensions/encode-extensions.ts';
import { OID_CODE_SIGNING } from '#pki/der/oids.ts';
import { encodePem } from '#pki/der/pem.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { generatePrivateKey, publicKeyOf } from '#pki/keys/private-key.ts';
import { KEY_TYPES, type KeyType } from '#base/vocabulary.ts';
import {
  ALTERNATIVE_NAMES,
  BURST_SIZE,
  HOUR_SECONDS,
  TEN_YEARS_SECONDS,
  UNKNOWN_KEY,
  ordinaryNames,
  weakKey,
} from '../plans.ts';
import type { Treatment } from '../requests.ts';
import type { Run } from '../run.ts';

/** A CertificateSigningRequest to create. */
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

/** The shortest `expirationSeconds` that the API allows. */
const TEN_MINUTES = 600;

type More = Partial<Omit<CsrPlan, 'requested'>> & { readonly requested?: Partial<RequestedLeaf> };

/** Creates plans that differ from the ordinary request, with names and keys of one run. */
interface Planner {
  readonly run: Run;
  readonly names: LeafNames;
  readonly keys: ReadonlyMap<KeyType, KeyObject>;
  readonly spare: KeyObject;
}

/**
 * Returns every request of the run except the burst. Those that the signer must leave alone come
 * first.
 */
export async function csrPlans(run: Run, username: string): Promise<readonly CsrPlan[]> {
  const { profile, signerName } = run;
  const planner: Planner = {
    run,
    names: ordinaryNames(profile, username),
    keys: new Map(
      await Promise.all(
        KEY_TYPES.map(async (type) => [type, (await generatePrivateKey(type)).key] as const),
      ),
    ),
    spare: (await generatePrivateKey(profile.keyType)).key,
  };
  const plan = (scenario: CsrPlan['scenario'], more?: More): CsrPlan =>
    planOf(planner, scenario, more);
  const first = plan('plain');
  const { names, spare } = planner;
  const lifetime = (lifetimeSeconds: number | undefined): More => ({
    requested: { lifetimeSeconds },
  });
  return [
    plan('foreign', { signerName: `conformance-${run.id}.example.com/nobody` }),
    plan('longerName', { signerName: `${signerName}-${run.id}` }),
    plan('unapproved', {
      treatment: 'leave',
      requested: { names: { ...names, commonName: `nobody-${run.id}` } },
    }),
    plan('denied', { treatment: 'deny' }),
    plan('deleted', { treatment: 'delete' }),
    first,
    plan('again', { request: first.request }),
    plan('annotated', {
      labels: { [UNKNOWN_KEY]: 'label' },
      annotations: { [UNKNOWN_KEY]: 'annotation' },
    }),
    plan('tenMinutes', lifetime(TEN_MINUTES)),
    plan('tenYears', lifetime(TEN_YEARS_SECONDS)),
    plan('noLifetime', lifetime(undefined)),
    ...usagePlans(planner),
    ...namePlans(planner),
    ...craftedPlans(planner),
    plan('twoBlocks', {
      request: first.request + encodePem('CERTIFICATE REQUEST', requestOf(names, spare)),
    }),
    plan('RSA1024', { key: await weakKey(), requested: { keyType: undefined } }),
    ...KEY_TYPES.map((keyType: KeyType) => plan(keyType, { requested: { keyType } })),
  ];
}

function planOf(
  { run, names, keys, spare }: Planner,
  scenario: CsrPlan['scenario'],
  more: More = {},
): CsrPlan {
  const { profile, signerName } = run;
  const keyType = more.requested?.keyType ?? profile.keyType;
  const key = more.key ?? keys.get(keyType) ?? spare;
  const requested = ordinary(run, names, key, { keyType, ...more.requested });
  const request = more.request ?? encodePem('CERTIFICATE REQUEST', requestOf(requested.names, key));
  return { scenario, key, signerName, treatment: 'approve', ...more, requested, request };
}

function usagePlans(planner: Planner): readonly CsrPlan[] {
  const usages = (...added: readonly string[]): Partial<RequestedLeaf> => ({
    usages: [...planner.run.profile.usages, ...added],
  });
  return [
    planOf(planner, 'certSign', { requested: usages('cert sign') }),
    planOf(planner, 'anyUsage', { requested: usages('any') }),
    planOf(planner, 'encipherment', {
      requested: { keyType: 'ECDSAP256', ...usages('key encipherment') },
    }),
  ];
}

function namePlans(planner: Planner): readonly CsrPlan[] {
  const plan = (scenario: CsrScenario, changed: Partial<LeafNames>): CsrPlan =>
    planOf(planner, scenario, { requested: { names: { ...planner.names, ...changed } } });
  return [
    plan('alternativeNames', { ...ALTERNATIVE_NAMES, emails: ['conformance@example.com'] }),
    plan('masters', { organizations: ['system:masters'] }),
    plan('kubeadm', { organizations: ['kubeadm:cluster-admins'] }),
    plan('systemUser', { commonName: 'system:conformance' }),
  ];
}

/** Returns requests whose PKCS#10 body requests more than the API offers. */
function craftedPlans(planner: Planner): readonly CsrPlan[] {
  const { commonName, organizations } = planner.names;
  const plan = (scenario: CsrScenario, parts: Partial<CraftedRequest>): CsrPlan => {
    const key = planner.spare;
    const subject = parts.subject ?? subjectOf(commonName, organizations);
    const der = encodeCraftedRequest({ ...parts, subject, key });
    return planOf(planner, scenario, { key, request: encodePem('CERTIFICATE REQUEST', der) });
  };
  return [
    plan('userId', { subject: subjectOf(commonName, organizations, [userUid('0')]) }),
    plan('otherName', { extensions: [otherName('conformance@example.com')] }),
    plan('twoNames', {
      subject: subjectOf(commonName, organizations, [secondCommonName('second')]),
    }),
    plan('authorityExtension', { extensions: [basicConstraints({ ca: true })] }),
    plan('usageExtension', { extensions: [keyUsage(['digitalSignature', 'keyCertSign'])] }),
    plan('purposeExtension', { extensions: [extKeyUsage([OID_CODE_SIGNING])] }),
    plan('unknownExtension', { extensions: [unknownExtension()] }),
  ];
}

/** Returns ordinary requests that the runner creates at the same time. */
export async function csrBurst(run: Run, username: string): Promise<readonly CsrPlan[]> {
  const names = ordinaryNames(run.profile, username);
  return Promise.all(
    Array.from({ length: BURST_SIZE }, async () => {
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

function ordinary(
  run: Run,
  names: LeafNames,
  key: KeyObject,
  more: Partial<RequestedLeaf>,
): RequestedLeaf {
  const { keyType, usages } = run.profile;
  return { keyType, spki: publicKeyOf(key), names, usages, lifetimeSeconds: HOUR_SECONDS, ...more };
}

function requestOf(names: LeafNames, key: KeyObject): Uint8Array {
  return encodeRequest({ subject: { ...names, organizationalUnits: [] }, sans: names, key });
}
