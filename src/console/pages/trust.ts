// SPDX-License-Identifier: Apache-2.0
/** Signers, their CAs, bundles and pods. Pure. */
import type { AuthorityPhase } from '#api/signer/cluster-signer.ts';
import type { PodFacts } from '#diagnose/check/facts.ts';
import type { ReadResult } from '#diagnose/check/finding.ts';
import { mapSeen } from '#diagnose/check/reading/list-visible.ts';
import type { PodScan } from '#operations/pods/find-pods.ts';
import { summarizeSigner, type AuthoritySummary } from '#operations/show/signer-summary.ts';
import { authoritiesOf, unexpectedAnchors, type SignerState } from '#operations/signer-state.ts';
import { planLoss, type CaLoss } from './ca-loss.ts';
import {
  countForeign,
  judgeTarget,
  strangeAnchors,
  type JudgedTarget,
  type StrangeAnchor,
  type TrustTarget,
} from './trust-anchors.ts';
import { onceForBoth } from './once.ts';
import { trustGraph, type TrustGraph } from './trust-graph.ts';
import {
  bundlePods,
  hasSigned,
  indexPods,
  isOld,
  mountingPods,
  podsOfSigner,
  podsOnOldCas,
  scanFor,
  workloadsOf,
  type PodIndex,
  type TrustingPod,
  type TrustingWorkload,
} from './trust-pods.ts';

/** The selection of the page's address. */
export interface TrustChoice {
  /** Name of a ClusterSigner. Undefined shows all. */
  readonly signer?: string | undefined;
  /** Fingerprint of a CA. */
  readonly ca?: string | undefined;
  /** A key of {@link POD_SHOWS}. For all signers: `foreign` or `old`. */
  readonly show?: string | undefined;
  /** A workload with its namespace. */
  readonly workload?: string | undefined;
  readonly in?: string | undefined;
  /** First row, from 0. */
  readonly from: number;
}

/** One signer among all. */
export interface SignerTrustRow {
  readonly name: string;
  readonly signerName: string;
  readonly phases: readonly AuthorityPhase[];
  readonly bundle: 'published' | 'not published' | 'not read' | 'none';
  /** Numbers of foreign or distrusted anchors in the bundle, and of an earlier ClusterSigner's. */
  readonly foreign: number;
  readonly retained: number;
  /** Numbers of pods. Absent if the person may not list them. */
  readonly pods?: {
    readonly mounting: number;
    readonly trusting: number;
    /** May hold a leaf of a CA that signs no more. */
    readonly old: number;
  };
}

/** The page of all signers. */
export interface TrustListModel {
  readonly kind: 'list';
  readonly show: string | undefined;
  readonly rows: readonly SignerTrustRow[];
  readonly total: number;
  readonly from: number;
  /** The permission to list pods, if the person lacks it. */
  readonly lacks: string | undefined;
}

/** A CA of a signer, and what would break without it. */
export interface GenerationRow extends AuthoritySummary {
  readonly loss: CaLoss;
}

/** The page of one signer. */
export interface SignerTrustModel {
  readonly kind: 'signer';
  readonly name: string;
  readonly signerName: string;
  readonly graph: TrustGraph;
  readonly generations: readonly GenerationRow[];
  readonly strange: readonly StrangeAnchor[];
  readonly targets: readonly JudgedTarget[];
  /** Permissions without which targets are not shown. */
  readonly lacksTargets: readonly string[];
  readonly workloads: ReadResult<readonly TrustingWorkload[]>;
  readonly total: number;
  readonly from: number;
}

/** The page of one CA, which answers what would break without it. */
export interface CaLossModel {
  readonly kind: 'ca';
  readonly name: string;
  readonly signerName: string;
  readonly generation: GenerationRow;
  readonly pods: ReadResult<readonly TrustingPod[]>;
  readonly total: number;
  readonly from: number;
}

/** The page of pods that a number counts. */
export interface TrustPodsModel {
  readonly kind: 'pods';
  readonly name: string;
  readonly signerName: string;
  readonly choice: TrustChoice;
  readonly pods: ReadResult<readonly TrustingPod[]>;
  readonly total: number;
}

export type TrustModel = TrustListModel | SignerTrustModel | CaLossModel | TrustPodsModel;

/** Rows of one page. */
export const TRUST_A_PAGE = 100;

/** Selections of pods by their address. */
export const POD_SHOWS = {
  certificate: 'mount a certificate',
  bundle: 'mount the bundle',
  old: 'may hold a leaf of a CA that signs no more',
  trusted: 'hold a leaf that the bundle covers',
  untrusted: 'hold a leaf that the bundle does not cover',
  revoked: 'hold a revoked leaf',
  doubtful: 'may hold a leaf of a distrusted CA',
  unknown: 'hold a leaf that no object shows any more',
  none: 'hold no leaf',
} as const;

/** Returns the rows of the page of all signers: those to look at first, then by name. */
export function trustList(
  states: readonly SignerState[],
  pods: ReadResult<PodFacts>,
  { show, from }: Pick<TrustChoice, 'show' | 'from'>,
): TrustListModel {
  const all = sortedRows(states, pods).filter((each) => isShown(each, show));
  const rows = all.slice(from, from + TRUST_A_PAGE);
  const lacks = 'lacks' in pods ? pods.lacks : undefined;
  return { kind: 'list', show, rows, total: all.length, from, lacks };
}

/** A person who turns pages has the same facts for a while. */
const sortedRows = onceForBoth(
  (states: readonly SignerState[], pods: ReadResult<PodFacts>): readonly SignerTrustRow[] => {
    const index = mapSeen(pods, (facts) => indexPods(states, facts));
    return states
      .map((state) => signerTrust(state, 'value' in index ? index.value : undefined))
      .toSorted((a, b) => weight(b) - weight(a) || (a.name < b.name ? -1 : 1));
  },
);

function isShown({ foreign, pods }: SignerTrustRow, show: string | undefined): boolean {
  if (show === 'foreign') return foreign > 0;
  return show === 'old' ? (pods?.old ?? 0) > 0 : true;
}

function weight({ foreign, pods }: SignerTrustRow): number {
  return foreign > 0 ? 2 : (pods?.old ?? 0) > 0 ? 1 : 0;
}

function signerTrust(state: SignerState, index: PodIndex | undefined): SignerTrustRow {
  const { metadata, spec } = state.signer;
  const foreign = countForeign(state);
  return {
    name: metadata.name,
    signerName: spec.signerName,
    phases: authoritiesOf(state).map(({ phase }) => phase),
    bundle: bundleState(state),
    foreign,
    retained: unexpectedAnchors(state).length - foreign,
    ...(index === undefined
      ? {}
      : {
          pods: {
            mounting: mountingPods(index, state).length,
            trusting: bundlePods(index, state).length,
            old: podsOnOldCas(index, state).size,
          },
        }),
  };
}

function bundleState({ signer, bundle }: SignerState): SignerTrustRow['bundle'] {
  if (signer.spec.trustBundle === undefined) return 'none';
  if (bundle === 'unread') return 'not read';
  return bundle === undefined ? 'not published' : 'published';
}

/** The facts of the pages of one signer. */
export interface SignerFactsOfPage {
  readonly state: SignerState;
  /** All signers. */
  readonly states: readonly SignerState[];
  readonly pods: ReadResult<PodFacts>;
  readonly targets: readonly TrustTarget[];
  readonly lacksTargets: readonly string[];
  /** Undefined if the person may not find out. */
  readonly hasCertManager: boolean | undefined;
}

/** Returns the page of one signer, of one of its CAs, or of some of its pods. */
export async function trustOfSigner(
  facts: SignerFactsOfPage,
  choice: TrustChoice,
): Promise<SignerTrustModel | CaLossModel | TrustPodsModel | undefined> {
  const { state, targets, lacksTargets } = facts;
  const { name } = state.signer.metadata;
  const { signerName } = state.signer.spec;
  const index = mapSeen(facts.pods, (found) => indexPods(facts.states, found));
  const pods = mapSeen(facts.pods, (found) =>
    podsOfSigner(indexPods(facts.states, found), state, found),
  );
  const named = { name, signerName };
  if (choice.ca !== undefined) {
    const [generation] = await generationsOf(facts, index, choice.ca);
    if (generation === undefined) return undefined;
    const holders = mapSeen(pods, (all) =>
      all.filter(({ mayHold }) => mayHold.includes(generation.fingerprint)),
    );
    return { kind: 'ca', ...named, generation, ...pageOf(holders, choice) };
  }
  if (choice.show !== undefined || choice.workload !== undefined) {
    const chosen = mapSeen(pods, (all) => all.filter((each) => isChosen(state, each, choice)));
    const { pods: rows, total } = pageOf(chosen, choice);
    return { kind: 'pods', ...named, choice, pods: rows, total };
  }
  const workloads = mapSeen(pods, (all) => workloadsOf(state, all));
  const all = 'value' in workloads ? workloads.value : [];
  const strange = strangeAnchors(state, targets);
  const judged = targets.map((each) => judgeTarget(state, each));
  const { from } = choice;
  return {
    kind: 'signer',
    ...named,
    graph: trustGraph({ state, strange, targets: judged, workloads: all }),
    generations: await generationsOf(facts, index, undefined),
    strange,
    targets: judged,
    lacksTargets,
    workloads: mapSeen(workloads, (rows) => rows.slice(from, from + TRUST_A_PAGE)),
    total: all.length,
    from,
  };
}

function pageOf(
  pods: ReadResult<readonly TrustingPod[]>,
  { from }: TrustChoice,
): Pick<CaLossModel, 'pods' | 'total' | 'from'> {
  const total = 'value' in pods ? pods.value.length : 0;
  return { pods: mapSeen(pods, (all) => all.slice(from, from + TRUST_A_PAGE)), total, from };
}

function isChosen(state: SignerState, pod: TrustingPod, choice: TrustChoice): boolean {
  const { show, workload, in: namespace } = choice;
  if (workload !== undefined && (pod.workload !== workload || pod.namespace !== namespace))
    return false;
  if (show === undefined) return true;
  if (show === 'certificate') return pod.mountsCertificate;
  if (show === 'bundle') return pod.mountsBundle;
  if (show !== 'old') return pod.leaf === show;
  const old = authoritiesOf(state).filter(isOld);
  return old.some(({ fingerprint }) => pod.mayHold.includes(fingerprint));
}

/** Returns the CAs with the plans of their loss. @param only - a fingerprint, undefined for all */
async function generationsOf(
  { state, hasCertManager }: SignerFactsOfPage,
  index: ReadResult<PodIndex>,
  only: string | undefined,
): Promise<readonly GenerationRow[]> {
  const scanOf = (authority: Parameters<typeof scanFor>[2]): PodScan | undefined => {
    if (!('value' in index)) return undefined;
    if (hasSigned(authority)) return scanFor(index.value, state, authority);
    return { mounts: mountingPods(index.value, state).length, affected: [] };
  };
  const summaries = summarizeSigner(state).authorities;
  const wanted = authoritiesOf(state).filter(
    ({ fingerprint }) => only === undefined || fingerprint === only,
  );
  const found: GenerationRow[] = [];
  for (const authority of wanted) {
    const summary = summaries.find(({ fingerprint }) => fingerprint === authority.fingerprint);
    const loss = await planLoss(state, authority, { scan: scanOf, hasCertManager });
    if (summary !== undefined) found.push({ ...summary, loss });
  }
  return found;
}
