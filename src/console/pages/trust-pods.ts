// SPDX-License-Identifier: Apache-2.0
/** Pods that use a signer, and the CAs of their leaves, by the evidence of the commands. Pure. */
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { isProjected } from '#api/object/cluster-trust-bundle.ts';
import { podsBySigner, trustBundleSources, type Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { PodFacts } from '#diagnose/check/facts.ts';
import { controllerOf } from '#diagnose/explain/lookup/workload.ts';
import { scanPods, type PodScan } from '#operations/pods/find-pods.ts';
import { leafTrust, revocationsInForce, type LeafTrust } from '#operations/pods/leaf-trust.ts';
import { authoritiesOf, type SignerState } from '#operations/signer-state.ts';
import { onceForBoth } from './once.ts';

/** The trust in the leaf of a pod. `none`: it mounts no certificate, or does not run yet. */
export type PodLeaf = LeafTrust['kind'] | 'none';

/** A pod that uses a signer. */
export interface TrustingPod {
  readonly namespace: string;
  readonly name: string;
  /** Object that people edit to change it, such as `deployment/web`. */
  readonly workload: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly mountsCertificate: boolean;
  readonly mountsBundle: boolean;
  readonly leaf: PodLeaf;
  /** Fingerprints of the CAs that may have signed its leaf. */
  readonly mayHold: readonly string[];
}

/** Facts about pods by what the pages look up. */
export interface PodIndex {
  /** Pods by the signer name of a certificate that they mount. */
  readonly mounting: ReadonlyMap<string, readonly Pod[]>;
  /** Pods by the name of a bundle that they mount. */
  readonly trusting: ReadonlyMap<string, readonly Pod[]>;
  /** PodCertificateRequests by signer name. */
  readonly requests: ReadonlyMap<string, readonly PodCertificateRequest[]>;
}

/** Indexes the facts once, because a cluster may have a thousand signers. */
export const indexPods = onceForBoth(
  (states: readonly SignerState[], facts: PodFacts): PodIndex => {
    const mounting = podsBySigner(facts.mounting);
    const bundles = states.flatMap(({ bundle }) => (typeof bundle === 'object' ? [bundle] : []));
    const bySigner = Map.groupBy(bundles, ({ spec }) => spec.signerName ?? '');
    const trusting = new Map<string, Pod[]>();
    for (const pod of facts.trusting) {
      const names = trustBundleSources(pod).flatMap((source) => {
        const { name, signerName = '' } = source;
        if (name !== undefined) return [name];
        const found = (bySigner.get(signerName) ?? []).filter((each) => isProjected(source, each));
        return found.map(({ metadata }) => metadata.name);
      });
      for (const name of new Set(names)) {
        const group = trusting.get(name);
        if (group === undefined) trusting.set(name, [pod]);
        else group.push(pod);
      }
    }
    return { mounting, trusting, requests: Map.groupBy(facts.requests, signerNameOf) };
  },
);

function signerNameOf({ spec }: PodCertificateRequest): string {
  return spec.signerName;
}

/** Returns the pods that mount a certificate of a signer. */
export function mountingPods({ mounting }: PodIndex, { signer }: SignerState): readonly Pod[] {
  return mounting.get(signer.spec.signerName) ?? [];
}

/** Returns the pods that mount the bundle of a signer. */
export function bundlePods({ trusting }: PodIndex, { bundle }: SignerState): readonly Pod[] {
  return typeof bundle === 'object' ? (trusting.get(bundle.metadata.name) ?? []) : [];
}

/** Scans pods for leaves of a CA, as `taint` and `revoke` do. */
export function scanFor(index: PodIndex, state: SignerState, authority: AuthorityStatus): PodScan {
  const { signerName } = state.signer.spec;
  const requests = index.requests.get(signerName) ?? [];
  return scanPods(mountingPods(index, state), requests, { signerName, authority });
}

/** Reports whether a CA may have signed a leaf: a prepared one has not signed yet. */
export function hasSigned({ phase }: AuthorityStatus): boolean {
  return phase !== 'Prepared';
}

/** Reports whether a CA signed leaves and signs no more. */
export function isOld({ phase }: AuthorityStatus): boolean {
  return phase === 'Retiring' || phase === 'Distrusted';
}

/** Returns the UIDs of the pods that may hold a leaf of a CA that signs no more. */
export function podsOnOldCas(index: PodIndex, state: SignerState): ReadonlySet<string> {
  const scans = authoritiesOf(state)
    .filter(isOld)
    .map((each) => scanFor(index, state, each));
  return new Set(scans.flatMap(({ affected }) => affected.map(({ uid }) => uid)));
}

/** Returns the pods that use a signer, by namespace and name. */
export function podsOfSigner(
  index: PodIndex,
  state: SignerState,
  { revocations }: PodFacts,
): readonly TrustingPod[] {
  const mounting = mountingPods(index, state);
  const byUid = new Map([...mounting, ...bundlePods(index, state)].map((pod) => [uidOf(pod), pod]));
  const [withCertificate, withBundle] = [
    new Set(mounting.map(uidOf)),
    new Set(bundlePods(index, state).map(uidOf)),
  ];
  const scans = authoritiesOf(state)
    .filter(hasSigned)
    .map((each) => ({
      fingerprint: each.fingerprint,
      pods: new Set(scanFor(index, state, each).affected.map(({ uid }) => uid)),
    }));
  const requests = Map.groupBy(
    index.requests.get(state.signer.spec.signerName) ?? [],
    ({ spec }) => spec.podUID,
  );
  const inForce = revocationsInForce(revocations, state);
  return [...byUid]
    .map(([uid, pod]): TrustingPod => {
      const { namespace = '', name, creationTimestamp } = pod.metadata;
      const { kind, name: controller } = controllerOf(pod);
      const holds = withCertificate.has(uid) && pod.status?.phase === 'Running';
      const own = { state, requests: requests.get(uid) ?? [], revocations: inForce };
      return {
        namespace,
        name,
        workload: `${kind}/${controller}`,
        createdAt: creationTimestamp,
        mountsCertificate: withCertificate.has(uid),
        mountsBundle: withBundle.has(uid),
        leaf: holds ? leafTrust(pod, own).kind : 'none',
        mayHold: scans.filter(({ pods }) => pods.has(uid)).map(({ fingerprint }) => fingerprint),
      };
    })
    .toSorted((a, b) => (podKey(a) < podKey(b) ? -1 : 1));
}

function uidOf({ metadata }: Pod): string {
  return metadata.uid;
}

function podKey({ namespace, name }: TrustingPod): string {
  return `${namespace}/${name}`;
}

/** Pods of one workload that use a signer. */
export interface TrustingWorkload {
  readonly namespace: string;
  readonly workload: string;
  readonly pods: number;
  readonly mountsCertificate: boolean;
  readonly mountsBundle: boolean;
  /** Numbers of pods by the trust in their leaves. */
  readonly leaves: Readonly<Partial<Record<PodLeaf, number>>>;
  /** Number of pods that may hold a leaf of a CA that signs no more. */
  readonly old: number;
}

/** Groups pods by their workload: those with leaves of old CAs first. */
export function workloadsOf(
  state: SignerState,
  pods: readonly TrustingPod[],
): readonly TrustingWorkload[] {
  const old = new Set(
    authoritiesOf(state)
      .filter(isOld)
      .map(({ fingerprint }) => fingerprint),
  );
  const groups = Map.groupBy(pods, ({ namespace, workload }) => `${namespace} ${workload}`);
  return [...groups.values()]
    .flatMap((alike): readonly TrustingWorkload[] => {
      const [first] = alike;
      if (first === undefined) return [];
      const { namespace, workload } = first;
      const kinds = Map.groupBy(alike, ({ leaf }) => leaf);
      return [
        {
          namespace,
          workload,
          pods: alike.length,
          mountsCertificate: alike.some(({ mountsCertificate }) => mountsCertificate),
          mountsBundle: alike.some(({ mountsBundle }) => mountsBundle),
          leaves: Object.fromEntries([...kinds].map(([kind, all]) => [kind, all.length])),
          old: alike.filter(({ mayHold }) => mayHold.some((each) => old.has(each))).length,
        },
      ];
    })
    .toSorted((a, b) => b.old - a.old || (workloadKey(a) < workloadKey(b) ? -1 : 1));
}

function workloadKey({ namespace, workload }: TrustingWorkload): string {
  return `${namespace} ${workload}`;
}
