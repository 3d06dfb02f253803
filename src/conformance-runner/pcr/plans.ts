// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import {
  encodeCraftedRequest,
  subjectOf,
  unknownExtension,
  type CraftedRequest,
} from '../../conformance/crafted-pkcs10.ts';
import type { PcrScenario } from '../../conformance/pcr/snapshot.ts';
import {
  NO_NAMES,
  type RequestedLeaf,
  type LeafNames,
} from '../../conformance/observed-request.ts';
import { basicConstraints, subjectAltName } from '../../pki/extensions/encode-extensions.ts';
import { generatePrivateKey, publicKeyOf } from '../../pki/keys/private-key.ts';
import { POD_KEY_TYPES, type KeyType } from '../../vocabulary.ts';
import type { Run } from '../run.ts';

export interface PcrPlan {
  readonly scenario: PcrScenario | 'burst';
  readonly requested: RequestedLeaf;
  /** base64 of DER. */
  readonly stub: string;
  readonly key: KeyObject;
  readonly signerName: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Of the object, not for the signer. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly isDeleted?: boolean;
}

const HOUR = 3600;
/** The most that the API takes. */
const DAYS_91 = 91 * 24 * HOUR;
/** What the API sets where nothing is message. */
const DAY = 24 * HOUR;

/** What a stub must not get into a leaf. */
const FORGED: LeafNames = {
  ...NO_NAMES,
  dnsNames: ['kubernetes.default.svc'],
  uris: ['spiffe://cluster.local/ns/kube-system/sa/forged'],
};

const BURST = 10;

/** An empty PKCS#10 request, as a kubelet makes it, or with what should not be in it. */
export function stubOf(key: KeyObject, parts: Partial<CraftedRequest> = {}): Buffer {
  return Buffer.from(encodeCraftedRequest({ subject: [], ...parts, key }));
}

/** Requests that the runner writes itself; those that are to be left alone come first. */
export async function pcrPlans(run: Run): Promise<readonly PcrPlan[]> {
  const { signerName, namespace, serviceAccount } = run;
  const keys = new Map(
    await Promise.all(
      POD_KEY_TYPES.map(
        async (type) => [type as KeyType, (await generatePrivateKey(type)).key] as const,
      ),
    ),
  );
  const ordinary = (POD_KEY_TYPES as readonly KeyType[]).includes(run.profile.keyType)
    ? run.profile.keyType
    : 'ECDSAP256';

  interface More extends Partial<Omit<PcrPlan, 'requested' | 'key'>> {
    readonly keyType?: KeyType;
    readonly names?: LeafNames;
    readonly lifetimeSeconds?: number;
    readonly parts?: Partial<CraftedRequest>;
  }

  async function plan(scenario: PcrPlan['scenario'], more: More = {}): Promise<PcrPlan> {
    const {
      keyType = ordinary,
      names = NO_NAMES,
      lifetimeSeconds = HOUR,
      parts = {},
      ...rest
    } = more;
    const listed = (POD_KEY_TYPES as readonly string[]).includes(scenario);
    const key = (listed ? keys.get(keyType) : undefined) ?? (await generatePrivateKey(keyType)).key;
    const pod = { namespace, serviceAccount };
    const requested = { keyType, spki: publicKeyOf(key), names, usages: [], lifetimeSeconds, pod };
    return {
      scenario,
      requested,
      key,
      signerName,
      stub: stubOf(key, parts).toString('base64'),
      ...rest,
    };
  }

  return Promise.all([
    plan('foreign', { signerName: `conformance-${run.id}.example.com/nobody` }),
    plan('longerName', { signerName: `${signerName}-${run.id}` }),
    plan('deleted', { isDeleted: true }),
    plan('plain'),
    plan('again'),
    plan('labelled', { labels: { 'conformance.example.com/unknown': 'label' } }),
    plan('noLifetime', { lifetimeSeconds: DAY }),
    plan('days91', { lifetimeSeconds: DAYS_91 }),
    plan('stubSubject', {
      names: { ...NO_NAMES, commonName: 'system:admin', organizations: ['system:masters'] },
      parts: { subject: subjectOf('system:admin', ['system:masters']) },
    }),
    plan('stubNames', { names: FORGED, parts: { extensions: [subjectAltName(FORGED, false)] } }),
    plan('stubAuthority', { parts: { extensions: [basicConstraints({ ca: true })] } }),
    plan('stubUnknown', { parts: { extensions: [unknownExtension()] } }),
    plan('unknownAnnotation', { annotations: { 'conformance.example.com/unknown': 'x' } }),
    plan('foreignPath', { annotations: { 'spiffe/path-overriding': '/ns/kube-system/sa/forged' } }),
    ...POD_KEY_TYPES.map((keyType) => plan(keyType, { keyType })),
    ...Array.from({ length: BURST }, () => plan('burst')),
  ]);
}
