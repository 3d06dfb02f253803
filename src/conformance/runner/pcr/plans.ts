// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import {
  encodeCraftedRequest,
  subjectOf,
  unknownExtension,
  type CraftedRequest,
} from '#conformance/crafted-pkcs10.ts';
import type { PcrScenario } from '#conformance/pcr/snapshot.ts';
import { NO_NAMES, type RequestedLeaf, type LeafNames } from '#conformance/observed-request.ts';
import { basicConstraints, subjectAltName } from '#pki/extensions/encode-extensions.ts';
import { generatePrivateKey, publicKeyOf } from '#pki/keys/private-key.ts';
import { POD_KEY_TYPES, type KeyType } from '#base/vocabulary.ts';
import { BURST_SIZE, HOUR_SECONDS, UNKNOWN_KEY } from '../plans.ts';
import type { Run } from '../run.ts';

/** A PodCertificateRequest to create. */
export interface PcrPlan {
  readonly scenario: PcrScenario | 'burst';
  readonly requested: RequestedLeaf;
  /** base64 of DER. */
  readonly stub: string;
  readonly key: KeyObject;
  readonly signerName: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Labels of the object, which the signer should ignore. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly isDeleted?: boolean;
}

/** The maximum and the default of PodCertificateRequestSpec.maxExpirationSeconds. */
const MAX_EXPIRATION_SECONDS = 91 * 24 * HOUR_SECONDS;
const DEFAULT_EXPIRATION_SECONDS = 24 * HOUR_SECONDS;

/** Names that no signer may copy from a stub into a leaf. */
const FORGED: LeafNames = {
  ...NO_NAMES,
  dnsNames: ['kubernetes.default.svc'],
  uris: ['spiffe://cluster.local/ns/kube-system/sa/forged'],
};

/**
 * Returns DER of the empty PKCS#10 request that a kubelet sends, or of one with `parts` that it
 * should not have.
 */
export function stubOf(key: KeyObject, parts: Partial<CraftedRequest> = {}): Buffer {
  return Buffer.from(encodeCraftedRequest({ subject: [], ...parts, key }));
}

interface More extends Partial<Omit<PcrPlan, 'requested' | 'key'>> {
  readonly keyType?: KeyType;
  readonly names?: LeafNames;
  readonly lifetimeSeconds?: number;
  readonly parts?: Partial<CraftedRequest>;
}

async function planOf(run: Run, scenario: PcrPlan['scenario'], more: More = {}): Promise<PcrPlan> {
  const { signerName, namespace, serviceAccount, profile } = run;
  const isForPods = POD_KEY_TYPES.some((each) => each === profile.keyType);
  const {
    keyType = isForPods ? profile.keyType : 'ECDSAP256',
    names = NO_NAMES,
    lifetimeSeconds = HOUR_SECONDS,
    parts = {},
    ...rest
  } = more;
  const { key } = await generatePrivateKey(keyType);
  const pod = { namespace, serviceAccount };
  const requested = { keyType, spki: publicKeyOf(key), names, usages: [], lifetimeSeconds, pod };
  const stub = stubOf(key, parts).toString('base64');
  return { scenario, requested, key, signerName, stub, ...rest };
}

/**
 * Returns the requests that the runner creates itself. Those that the signer must leave alone come
 * first.
 */
export async function pcrPlans(run: Run): Promise<readonly PcrPlan[]> {
  const { signerName } = run;
  const plan = (scenario: PcrPlan['scenario'], more?: More): Promise<PcrPlan> =>
    planOf(run, scenario, more);
  return Promise.all([
    plan('foreign', { signerName: `conformance-${run.id}.example.com/nobody` }),
    plan('longerName', { signerName: `${signerName}-${run.id}` }),
    plan('deleted', { isDeleted: true }),
    plan('plain'),
    plan('again'),
    plan('labelled', { labels: { [UNKNOWN_KEY]: 'label' } }),
    plan('noLifetime', { lifetimeSeconds: DEFAULT_EXPIRATION_SECONDS }),
    plan('days91', { lifetimeSeconds: MAX_EXPIRATION_SECONDS }),
    plan('stubSubject', {
      names: { ...NO_NAMES, commonName: 'system:admin', organizations: ['system:masters'] },
      parts: { subject: subjectOf('system:admin', ['system:masters']) },
    }),
    plan('stubNames', { names: FORGED, parts: { extensions: [subjectAltName(FORGED, false)] } }),
    plan('stubAuthority', { parts: { extensions: [basicConstraints({ ca: true })] } }),
    plan('stubUnknown', { parts: { extensions: [unknownExtension()] } }),
    plan('unknownAnnotation', { annotations: { [UNKNOWN_KEY]: 'x' } }),
    plan('foreignPath', { annotations: { 'spiffe/path-overriding': '/ns/kube-system/sa/forged' } }),
    ...POD_KEY_TYPES.map((keyType) => plan(keyType, { keyType })),
    ...Array.from({ length: BURST_SIZE }, () => plan('burst')),
  ]);
}
