// SPDX-License-Identifier: Apache-2.0
/**
 * The graph of a signer's trust. Its levels are fixed, so a node needs no more than its column and
 * row. Pure.
 */
import { quantity } from '#base/quantity.ts';
import type { AuthorityPhase } from '#api/signer/cluster-signer.ts';
import { authoritiesOf, fingerprintsOf, type SignerState } from '#operations/signer-state.ts';
import { bundleAnchors, type JudgedTarget, type StrangeAnchor } from './trust-anchors.ts';
import type { TrustingWorkload } from './trust-pods.ts';

/** The kind of a node, which decides its colors. Its text has the same. */
export type NodeKind = 'signer' | 'ca' | 'old' | 'foreign' | 'bundle' | 'target' | 'workload';

/** A node of the graph. */
export interface TrustNode {
  readonly column: number;
  readonly row: number;
  readonly kind: NodeKind;
  readonly title: string;
  readonly note: string;
  /** Parameters of the page of this node, beside its signer. */
  readonly query: Readonly<Record<string, string>>;
}

/** An arrow between two nodes, by their places in the list. */
export interface TrustEdge {
  readonly from: number;
  readonly to: number;
  readonly isForeign: boolean;
}

/** Nodes and arrows. */
export interface TrustGraph {
  readonly nodes: readonly TrustNode[];
  readonly edges: readonly TrustEdge[];
  /** Number of rows of the tallest column. */
  readonly rows: number;
}

/** The parts of a signer's page that the graph shows. */
export interface GraphParts {
  readonly state: SignerState;
  readonly strange: readonly StrangeAnchor[];
  readonly targets: readonly JudgedTarget[];
  readonly workloads: readonly TrustingWorkload[];
}

/** Nodes of one column. More are counted in the last one, and the tables list them. */
const MAX_NODES = 10;

type Draft = Omit<TrustNode, 'column' | 'row'> & { readonly isLinked?: boolean };

/** Lays out the graph: signer, CAs and foreign anchors, bundle, then targets and workloads. */
export function trustGraph({ state, strange, targets, workloads }: GraphParts): TrustGraph {
  const { metadata, spec } = state.signer;
  const signer: Draft = {
    kind: 'signer',
    title: metadata.name,
    note: spec.signerName,
    query: {},
  };
  const columns: readonly (readonly Draft[])[] = [
    [signer],
    limited([...authorityNodes(state), ...strangeNodes(state, strange)], 'CAs and anchors'),
    spec.trustBundle === undefined ? [] : [bundleNode(state)],
    limited([...targets.map(targetNode), ...workloads.map(workloadNode)], 'targets and workloads'),
  ];
  const nodes = columns.flatMap((drafts, column) =>
    drafts.map(({ kind, title, note, query }, row): TrustNode => {
      return { column, row, kind, title, note, query };
    }),
  );
  const drafts = columns.flat();
  const edges = nodes.flatMap((node, index): readonly TrustEdge[] => {
    const isForeign = node.kind === 'foreign';
    const bundle = nodes.findIndex(({ kind }) => kind === 'bundle');
    if (node.column === 1) {
      const isPublished = bundle >= 0 && drafts[index]?.isLinked === true;
      return [
        ...(isForeign ? [] : [{ from: 0, to: index, isForeign }]),
        ...(isPublished ? [{ from: index, to: bundle, isForeign }] : []),
      ];
    }
    return node.column === 3 && bundle >= 0 && drafts[index]?.isLinked === true
      ? [{ from: bundle, to: index, isForeign }]
      : [];
  });
  return { nodes, edges, rows: Math.max(...columns.map(({ length }) => length)) };
}

function authorityNodes(state: SignerState): readonly Draft[] {
  const published = bundleAnchors(state);
  return authoritiesOf(state).map((each) => {
    const { fingerprint, phase } = each;
    const prints = fingerprintsOf(each);
    const isLinked = prints.length > 0 && prints.every((print) => published.has(print));
    return {
      kind: authorityKind(phase, isLinked),
      title: shortPrint(fingerprint),
      note: `${phase}, ${isLinked ? 'published' : 'not published'}`,
      query: { ca: fingerprint },
      isLinked,
    };
  });
}

/** A distrusted CA that is still published is as bad as a foreign anchor. */
function authorityKind(phase: AuthorityPhase, isPublished: boolean): NodeKind {
  if (phase === 'Distrusted' && isPublished) return 'foreign';
  return phase === 'Retiring' || phase === 'Distrusted' ? 'old' : 'ca';
}

/** Returns the first digits of a fingerprint, by which commands take it as well. */
export function shortPrint(fingerprint: string): string {
  return fingerprint.slice(0, 'sha256:'.length + 12);
}

/** Returns the nodes of anchors in the bundle that have no node of a CA. */
function strangeNodes(state: SignerState, strange: readonly StrangeAnchor[]): readonly Draft[] {
  const own = new Set(authoritiesOf(state).flatMap(fingerprintsOf));
  return strange
    .filter(({ fingerprint }) => !own.has(fingerprint))
    .filter(({ object }) => object.startsWith('ClusterTrustBundle '))
    .map(({ fingerprint, retainedUntil }) => ({
      kind: retainedUntil === undefined ? 'foreign' : 'old',
      title: shortPrint(fingerprint),
      note: retainedUntil === undefined ? 'foreign anchor' : 'of an earlier ClusterSigner',
      query: {},
      isLinked: true,
    }));
}

function bundleNode({ bundle, signer }: SignerState): Draft {
  const base = { kind: 'bundle', query: {} } as const;
  if (bundle === 'unread')
    return { ...base, title: 'ClusterTrustBundle', note: 'you may not read it' };
  if (bundle === undefined)
    return { ...base, title: signer.spec.trustBundle?.name ?? '', note: 'not published' };
  const note = `bundle, ${quantity(bundleAnchors({ bundle }).size, 'anchor')}`;
  return { ...base, title: bundle.metadata.name, note };
}

function targetNode({ object, missing, foreign }: JudgedTarget): Draft {
  const faults = [
    ...(missing === 0 ? [] : [`lacks ${quantity(missing, 'anchor')}`]),
    ...(foreign === 0 ? [] : [quantity(foreign, 'foreign anchor')]),
  ];
  return {
    kind: foreign > 0 ? 'foreign' : 'target',
    title: object,
    note: faults.length === 0 ? 'has the anchors of the bundle' : faults.join(', '),
    query: {},
    isLinked: true,
  };
}

function workloadNode(each: TrustingWorkload): Draft {
  const { namespace, workload, pods, old, mountsBundle, mountsCertificate } = each;
  const uses = [
    ...(mountsCertificate ? ['certificate'] : []),
    ...(mountsBundle ? ['bundle'] : []),
  ].join(' and ');
  const count = quantity(pods, 'pod');
  const note = old > 0 ? `${count}, ${old} on an old CA` : `${count}: ${uses}`;
  return {
    kind: old > 0 ? 'old' : 'workload',
    title: `${namespace}/${workload.replace(/^[^/]*\//, '')}`,
    note,
    query: { in: namespace, workload },
    isLinked: mountsBundle,
  };
}

function limited(drafts: readonly Draft[], what: string): readonly Draft[] {
  if (drafts.length <= MAX_NODES) return drafts;
  const rest = drafts.length - MAX_NODES + 1;
  const more: Draft = {
    kind: 'workload',
    title: `${rest} more`,
    note: `${what}: see the tables`,
    query: {},
  };
  return [...drafts.slice(0, MAX_NODES - 1), more];
}
