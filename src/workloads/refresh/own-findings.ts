// SPDX-License-Identifier: Apache-2.0
import type { Pod, TrustBundleSource } from '#api/object/pod.ts';
import { parseTime } from '#api/object/time.ts';
import { judgeOwn, type OwnChange, type OwnJudgement } from './credentials/own-leaves.ts';
import { usedCredentials, type UsedCredentials } from './credentials/used-credentials.ts';
import type { ChangedCredential, CredentialSource } from './credential-source.ts';
import type { CertificateRecord } from './record.ts';
import * as messages from './messages.ts';

/** Changes of the pods' own credentials. */
export interface OwnFindings {
  readonly changes: readonly ChangedCredential[];
  /** Unknown facts about the pods. */
  readonly unseen: readonly string[];
  /** Signers of the pods without a signing CA. A new pod would get no credential. */
  readonly withoutCa: readonly string[];
  /** Time at which the findings may change without an event, or Infinity. */
  readonly lookAgainAt: number;
}

/** Inputs of the findings. */
export interface OwnFindingsInit {
  readonly namespace: string;
  readonly recorded: CertificateRecord;
  /** Credentials that the template uses. */
  readonly used: UsedCredentials;
  readonly source: CredentialSource;
  /** True if the workload's mode is `restart`. */
  readonly readsOnce: boolean;
  readonly now: number;
}

/**
 * A pod and the credentials that its containers use. Admission may have added volumes and sidecars
 * that the template does not show.
 */
interface LookedAt {
  readonly pod: Pod;
  readonly used: UsedCredentials;
}

/**
 * Judges the credentials of single pods and the bundles that they mount, by the pods instead of the
 * template.
 */
export function ownFindings(pods: readonly Pod[], init: OwnFindingsInit): OwnFindings {
  const { source, readsOnce } = init;
  const looked = pods.map((pod) => ({ pod, used: usedCredentials(pod) }));
  const judged = looked.map((each) => [each.pod, judge(each, init)] as const);
  const bundles = bundlesOf([init.used, ...looked.map(({ used }) => used)]);
  const anchors = readsOnce ? anchorsOf(bundles, init) : [];
  return {
    changes: [...ownChanges(judged), ...anchors],
    unseen: [...unknownLeaves(judged), ...unknownAnchors(looked, init, anchors)],
    withoutCa: signersOf(looked).filter((signerName) => !source.trust(signerName).signs),
    lookAgainAt: Math.min(Infinity, ...judged.map(([, { lookAgainAt }]) => lookAgainAt)),
  };
}

function judge({ pod, used }: LookedAt, init: OwnFindingsInit): OwnJudgement {
  const { source, readsOnce, now, namespace } = init;
  const place = { namespace, uid: pod.metadata.uid };
  const signers = used.bundles.flatMap((bundle) => source.bundleSigner(bundle) ?? []);
  return judgeOwn(pod, used, {
    leaf: (signerName) => source.podCertificate(place, signerName),
    trust: source.trust,
    anchorsOf: readsOnce ? [...new Set(signers)] : [],
    readsOnce,
    now,
  });
}

/**
 * Returns one change per credential: the newest of the pods' credentials, with all pods that must
 * be replaced for one of them.
 */
function ownChanges(
  judged: readonly (readonly [Pod, OwnJudgement])[],
): readonly ChangedCredential[] {
  const found = judged.flatMap(([{ metadata }, { changes }]) =>
    changes.map((change) => ({ uid: metadata.uid, change })),
  );
  const byCredential = Map.groupBy(found, ({ change }) => change.credential);
  return [...byCredential].flatMap(([credential, all]) => {
    const [newest] = all
      .map(({ change }) => change)
      .sort((a, b) => b.issuedAt - a.issuedAt || (a.hash < b.hash ? -1 : 1));
    const pods = new Set(all.map(({ uid }) => uid));
    return newest === undefined ? [] : [changed(credential, newest, pods)];
  });
}

function changed(
  credential: string,
  { hash, issuedAt, remaining, cause }: OwnChange,
  pods: ReadonlySet<string>,
): ChangedCredential {
  const leaf = { hash, issuedAt, writtenBy: issuedAt, isFirst: false, remaining, pods };
  return { credential, leaf, use: { untilPodEnds: true }, cause };
}

function bundlesOf(used: readonly UsedCredentials[]): readonly TrustBundleSource[] {
  const all = used.flatMap(({ bundles }) => bundles);
  return [...new Map(all.map((bundle) => [JSON.stringify(bundle), bundle])).values()];
}

function anchorsOf(
  bundles: readonly TrustBundleSource[],
  { source, recorded }: OwnFindingsInit,
): readonly ChangedCredential[] {
  return bundles.flatMap((bundle) => {
    const credential = bundleCredential(bundle);
    const leaf = source.bundle(bundle, recorded.get(credential));
    return leaf === undefined ? [] : [{ credential, leaf, use: { untilPodEnds: true } }];
  });
}

/** Returns `bundle/` and the name of one bundle, or the signer of the bundles. */
function bundleCredential({ name, signerName = '' }: TrustBundleSource): string {
  return `bundle/${name ?? signerName}`;
}

function unknownLeaves(judged: readonly (readonly [Pod, OwnJudgement])[]): readonly string[] {
  const found = judged.flatMap(([{ metadata }, { unknown }]) =>
    unknown.map((signerName) => ({ name: metadata.name, signerName })),
  );
  const bySigner = Map.groupBy(found, ({ signerName }) => signerName);
  return [...bySigner].map(([signerName, pods]) => {
    const names = messages.podNames(pods.map(({ name }) => name));
    return messages.unknownRenewal(signerName, names);
  });
}

/**
 * Reports pods that started before a bundle was last written, so that they may have read other
 * anchors.
 */
function unknownAnchors(
  looked: readonly LookedAt[],
  { source, readsOnce }: OwnFindingsInit,
  known: readonly ChangedCredential[],
): readonly string[] {
  if (!readsOnce) return [];
  const credentials = new Set(known.map(({ credential }) => credential));
  const found = looked.flatMap(({ pod, used }) => {
    const accepted = parseTime(pod.status?.startTime ?? '');
    return used.bundles
      .filter((bundle) => !credentials.has(bundleCredential(bundle)))
      .filter((bundle) => accepted < (source.bundleWrite(bundle) ?? -Infinity))
      .map((bundle) => ({ name: pod.metadata.name, bundle: bundle.name ?? bundle.signerName }));
  });
  return [...Map.groupBy(found, ({ bundle }) => bundle)].map(([bundle = '', pods]) =>
    messages.unknownAnchors(bundle, messages.podNames(pods.map(({ name }) => name))),
  );
}

function signersOf(looked: readonly LookedAt[]): readonly string[] {
  return [...new Set(looked.flatMap(({ used }) => [...used.podCertificates.keys()]))];
}
