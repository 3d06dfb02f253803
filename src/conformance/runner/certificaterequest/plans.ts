// SPDX-License-Identifier: Apache-2.0
import { generatePrivateKey, publicKeyOf } from '#pki/keys/private-key.ts';
import type { KeyObject } from 'node:crypto';
import {
  CR_KEY_TYPES,
  type CrScenario,
  type IssuerRef,
} from '#conformance/certificaterequest/snapshot.ts';
import {
  encodeCraftedRequest,
  subjectOf,
  unknownExtension,
  type CraftedRequest,
} from '#conformance/crafted-pkcs10.ts';
import { type RequestedLeaf, type LeafNames } from '#conformance/observed-request.ts';
import { basicConstraints, subjectAltName } from '#pki/extensions/encode-extensions.ts';
import { encodePem } from '#pki/der/pem.ts';
import type { KeyType } from '#base/vocabulary.ts';
import {
  ALTERNATIVE_NAMES,
  BURST_SIZE,
  HOUR_SECONDS,
  TEN_YEARS_SECONDS,
  UNKNOWN_KEY,
  ordinaryNames,
  weakKey,
} from '../plans.ts';
import type { Run } from '../run.ts';

/** A CertificateRequest to create. */
export interface CrPlan {
  readonly scenario: CrScenario | 'burst';
  readonly requested: RequestedLeaf;
  /** PEM. */
  readonly request: string;
  readonly issuerRef: IssuerRef;
  readonly treatment: 'approve' | 'leave' | 'deny';
  readonly isCa: boolean;
  /** False if the request omits `spec.usages`. */
  readonly saysUsages: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface More extends Partial<Omit<CrPlan, 'requested' | 'scenario'>> {
  readonly key?: KeyObject;
  readonly keyType?: KeyType | undefined;
  readonly names?: Partial<LeafNames>;
  readonly usages?: readonly string[];
  readonly lifetimeSeconds?: number | undefined;
  readonly parts?: Partial<CraftedRequest>;
}

type Planner = (scenario: CrPlan['scenario'], more?: More) => Promise<CrPlan>;

/** Returns every request of the run. Those that the signer must leave alone come first. */
export async function crPlans(
  run: Run,
  issuerRef: IssuerRef,
  username: string,
): Promise<readonly CrPlan[]> {
  const plan = plannerOf(run, issuerRef, username);
  const { key } = await generatePrivateKey(run.profile.keyType);
  const plain = await plan('plain', { key });
  const others = await Promise.all([
    plan('foreign', { issuerRef: { ...issuerRef, name: `conformance-${run.id}-nobody` } }),
    plan('otherGroup', { issuerRef: { ...issuerRef, group: `conformance-${run.id}.example.com` } }),
    plan('unapproved', { treatment: 'leave', names: { commonName: `nobody-${run.id}` } }),
    plan('denied', { treatment: 'deny' }),
    plan('again', { key, request: plain.request }),
    plan('annotated', { annotations: { [UNKNOWN_KEY]: 'annotation' } }),
    plan('tenYears', { lifetimeSeconds: TEN_YEARS_SECONDS }),
    plan('noDuration', { lifetimeSeconds: undefined }),
    plan('RSA1024', { key: await weakKey(), keyType: undefined }),
    ...usagePlans(plan, run.profile.usages),
    ...namePlans(plan),
    plan('authorityExtension', { parts: { extensions: [basicConstraints({ ca: true })] } }),
    plan('unknownExtension', { parts: { extensions: [unknownExtension()] } }),
    ...CR_KEY_TYPES.map((keyType) => plan(keyType, { keyType })),
    ...Array.from({ length: BURST_SIZE }, () => plan('burst')),
  ]);
  return [...others, plain];
}

function usagePlans(plan: Planner, usages: readonly string[]): readonly Promise<CrPlan>[] {
  return [
    plan('defaultUsages', { usages: ['digital signature', 'key encipherment'], saysUsages: false }),
    plan('isCa', { isCa: true, usages: [...usages, 'cert sign'] }),
    plan('certSign', { usages: [...usages, 'cert sign'] }),
  ];
}

function namePlans(plan: Planner): readonly Promise<CrPlan>[] {
  return [
    plan('alternativeNames', { names: ALTERNATIVE_NAMES }),
    plan('masters', { names: { organizations: ['system:masters'] } }),
    plan('systemUser', { names: { commonName: 'system:conformance' } }),
  ];
}

function plannerOf({ profile }: Run, issuerRef: IssuerRef, username: string): Planner {
  const names = ordinaryNames(profile, username);
  return async (scenario, more = {}) => {
    const given = {
      keyType: profile.keyType,
      usages: profile.usages,
      lifetimeSeconds: HOUR_SECONDS,
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
  };
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
