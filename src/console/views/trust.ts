// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import { quantity } from '#base/quantity.ts';
import { shellWord } from '#base/quote.ts';

import { operationLines, podsTitle, type OperationReport } from '#operations/report.ts';
import type { JudgedTarget, StrangeAnchor } from '../pages/trust-anchors.ts';
import { shortPrint } from '../pages/trust-graph.ts';
import type { TrustingPod, TrustingWorkload } from '../pages/trust-pods.ts';
import {
  POD_SHOWS,
  TRUST_A_PAGE,
  type CaLossModel,
  type GenerationRow,
  type SignerTrustRow,
  type SignerTrustModel,
  type TrustListModel,
  type TrustModel,
  type TrustPodsModel,
} from '../pages/trust.ts';
import { actionLinks, type ActionQuery } from './act.ts';
import type { PageQuery, View } from './address.ts';
import { el, type Content } from './element.ts';
import { lacksOf, linkTo, notesOf, pagerOf, tableOf, timeOf } from './parts.ts';
import { graphFigure } from './trust-graph.ts';

/** Returns the title of the page Trust. */
export function trustTitle(model: TrustModel): string {
  if (model.kind === 'list') return 'Trust';
  const { name } = model;
  return model.kind === 'ca'
    ? `Without CA ${shortPrint(model.generation.fingerprint)} of ${name}`
    : `Trust of ${name}`;
}

/** Returns the page Trust. */
export function trustView(view: View, model: TrustModel): VNode {
  switch (model.kind) {
    case 'list':
      return listView(view, model);
    case 'signer':
      return signerView(view, model);
    case 'ca':
      return lossView(view, model);
    case 'pods':
      return podsView(view, model);
  }
}

function trustLink(view: View, query: PageQuery, ...content: readonly Content[]): VNode {
  return linkTo(view, ['trust', query], ...content);
}

/** Returns a number as a link to what it counts. Zero counts nothing. */
function numberLink(view: View, query: PageQuery, count: number, kind = ''): Content {
  if (count === 0) return '0';
  const link = trustLink(view, query, `${count}`);
  return kind === '' ? link : el('span', { class: kind }, link);
}

function listView(view: View, { show, rows, total, from, lacks }: TrustListModel): VNode {
  const choices: readonly (readonly [show: string, text: string])[] = [
    ['', 'All signers'],
    ['foreign', 'With foreign anchors'],
    ['old', 'With pods on an old CA'],
  ];
  const links = choices.map(([each, text]) =>
    el('li', {}, each === (show ?? '') ? text : trustLink(view, { show: each }, text)),
  );
  const titles = [
    'Signer',
    'Signer name',
    'CAs',
    'Bundle',
    'Foreign anchors',
    'Pods with its leaf',
    'Pods with its bundle',
    'Pods on an old CA',
  ];
  return el(
    'div',
    {},
    el('ul', { class: 'counts' }, ...links),
    lacks === undefined ? undefined : lacksOf(lacks),
    el('p', { role: 'status' }, total === 1 ? '1 signer' : `${total} signers`),
    tableOf(
      'Signers, those to look at first',
      titles,
      rows.map((row) => signerCells(view, row)),
    ),
    pagerOf(view, ['trust', { show }], { from, size: TRUST_A_PAGE, total }),
  );
}

function signerCells(view: View, row: SignerTrustRow): readonly Content[] {
  const { name, signerName, phases, bundle, foreign, retained, pods } = row;
  const kept = retained === 0 ? '' : ` and ${retained} of an earlier ClusterSigner`;
  const one = { signer: name };
  return [
    trustLink(view, one, name),
    signerName,
    [numberLink(view, one, phases.length), ` ${phases.join(', ')}`],
    bundle,
    [numberLink(view, one, foreign, 'foreign'), foreign > 0 ? ' foreign' : '', kept],
    ...(pods === undefined
      ? ['not shown', 'not shown', 'not shown']
      : [
          numberLink(view, { ...one, show: 'certificate' }, pods.mounting),
          numberLink(view, { ...one, show: 'bundle' }, pods.trusting),
          numberLink(view, { ...one, show: 'old' }, pods.old, 'old'),
        ]),
  ];
}

function signerView(view: View, model: SignerTrustModel): VNode {
  const { name, signerName, graph, generations, strange, targets, lacksTargets } = model;
  const rows = generations.map((each) => generationCells(view, name, each));
  return el(
    'div',
    {},
    pathOf(view, `${name} (${signerName})`),
    actionLinks(view, [{ verb: 'prepare', signer: name }]),
    graphFigure(view, graph, name),
    strangePart(view, strange),
    el('h2', {}, `CAs (${generations.length})`),
    tableOf(
      'CAs',
      [
        'CA',
        'State',
        'Bundle has it since',
        'Expires',
        'Pods that may hold its leaf',
        'Without it',
      ],
      rows,
    ),
    el('h2', {}, `Targets (${targets.length})`),
    ...lacksTargets.map(lacksOf),
    tableOf('Targets', ['Target', 'Anchors', 'State'], targets.map(targetCells)),
    el('h2', {}, `Workloads (${model.total})`),
    workloadsPart(view, model),
  );
}

function pathOf(view: View, here: string): VNode {
  return el('p', {}, trustLink(view, {}, 'All signers'), ` › ${here}`);
}

function strangePart(view: View, strange: readonly StrangeAnchor[]): Content {
  if (strange.length === 0) return undefined;
  const rows = strange.map(({ fingerprint, subject, notAfter, object, ...origin }) => [
    el('code', {}, fingerprint),
    subject,
    object,
    notAfter === '' ? '' : timeOf(notAfter, view),
    originOf(origin),
  ]);
  return el(
    'section',
    {},
    el('h2', {}, `Anchors of no trusted CA of this signer (${strange.length})`),
    el(
      'p',
      {},
      'Who trusts the bundle accepts every certificate below these anchors. If you do not know one, and the CA is managed, name it in spec.authority.managed.distrusted. If the CA is your own, no field removes an anchor earlier.',
    ),
    tableOf('Anchors of no trusted CA', ['Anchor', 'Subject', 'In', 'Expires', 'Origin'], rows),
  );
}

function originOf(anchor: Pick<StrangeAnchor, 'isDistrusted' | 'retainedUntil'>): Content {
  const { isDistrusted, retainedUntil } = anchor;
  if (isDistrusted) return el('strong', { class: 'foreign' }, 'distrusted: it must be removed');
  return retainedUntil === undefined
    ? el('strong', { class: 'foreign' }, 'foreign: no CA of this signer')
    : `of an earlier ClusterSigner, kept until ${retainedUntil}`;
}

function generationCells(view: View, signer: string, row: GenerationRow): readonly Content[] {
  const { fingerprint, phase, servedSince, notAfter, next, loss } = row;
  const query = { signer, ca: fingerprint };
  const { affected } = loss.pods ?? {};
  return [
    trustLink(view, query, el('code', {}, shortPrint(fingerprint))),
    [
      el('span', { class: phase === 'Active' ? 'state issued' : 'old' }, phase),
      next === undefined ? '' : [`, ${next.what} `, timeOf(next.at, view)],
    ],
    servedSince === undefined ? 'not published' : timeOf(servedSince, view),
    timeOf(notAfter, view),
    affected === undefined ? 'not shown' : numberLink(view, query, affected.length),
    trustLink(view, query, isSafe(loss.revoke) ? 'nothing known breaks' : 'something breaks'),
  ];
}

function isSafe({ refusals }: OperationReport): boolean {
  return refusals.length === 0;
}

function targetCells({ object, anchors, missing, foreign }: JudgedTarget): readonly Content[] {
  const faults = [
    ...(missing === 0 ? [] : [`lacks ${quantity(missing, 'anchor')} of the bundle`]),
    ...(foreign === 0 ? [] : [quantity(foreign, 'foreign anchor')]),
  ];
  const kind = foreign > 0 ? 'foreign' : 'old';
  return [
    object,
    `${anchors}`,
    faults.length === 0
      ? 'has the anchors of the bundle'
      : el('strong', { class: kind }, faults.join(', ')),
  ];
}

function workloadsPart(view: View, model: SignerTrustModel): VNode {
  const { name, workloads, total, from } = model;
  if ('lacks' in workloads) return lacksOf(workloads.lacks);
  const titles = ['Workload', 'Namespace', 'Mounts', 'Pods', 'Leaves', 'Pods on an old CA'];
  const rows = workloads.value.map((each) => workloadCells(view, name, each));
  return el(
    'div',
    {},
    tableOf('Workloads, those on an old CA first', titles, rows),
    pagerOf(view, ['trust', { signer: name }], { from, size: TRUST_A_PAGE, total }),
  );
}

function workloadCells(
  view: View,
  signer: string,
  { namespace, workload, pods, mountsCertificate, mountsBundle, leaves, old }: TrustingWorkload,
): readonly Content[] {
  const query = { signer, workload, in: namespace };
  const uses = [...(mountsCertificate ? ['certificate'] : []), ...(mountsBundle ? ['bundle'] : [])];
  return [
    trustLink(view, query, workload),
    namespace,
    uses.join(', '),
    numberLink(view, query, pods),
    Object.entries(leaves).map(([kind, count], index): Content => [
      index === 0 ? '' : ', ',
      trustLink(view, { ...query, show: kind }, `${count}`),
      ` ${kind}`,
    ]),
    numberLink(view, { ...query, show: 'old' }, old, 'old'),
  ];
}

/** Returns the page that answers what would break without a CA. */
function lossView(view: View, model: CaLossModel): VNode {
  const { name, signerName, generation, pods, total, from } = model;
  const { fingerprint, phase, loss } = generation;
  const query = { signer: name, ca: fingerprint };
  return el(
    'div',
    {},
    el(
      'p',
      {},
      trustLink(view, {}, 'All signers'),
      ' › ',
      trustLink(view, { signer: name }, name),
      ' › ',
      el('code', {}, fingerprint),
      ` (${phase})`,
    ),
    el('p', { class: 'verdict' }, verdictOf(loss.revoke)),
    actionLinks(view, caActions(name, generation)),
    commandPart(
      `countersign authority revoke ${shellWord(name)} ${shellWord(fingerprint)} --dry-run`,
      loss.revoke,
    ),
    commandPart(
      `countersign authority taint ${shellWord(name)} ${shellWord(fingerprint)} --dry-run`,
      loss.taint,
    ),
    el('h2', {}, `Pods that may hold its leaf (${total})`),
    loss.pods === undefined ? undefined : el('p', {}, podsTitle(signerName, loss.pods)),
    podsTable(view, pods),
    pagerOf(view, ['trust', query], { from, size: TRUST_A_PAGE, total }),
  );
}

/** Returns the actions on a CA in its phase. */
function caActions(signer: string, { fingerprint, phase }: GenerationRow): readonly ActionQuery[] {
  const verbs = {
    Prepared: ['activate', 'revoke'],
    Active: ['taint', 'revoke'],
    Retiring: ['restart', 'revoke'],
    Distrusted: ['restart'],
  } as const;
  return verbs[phase].map((verb) => ({ verb, signer, ca: fingerprint }));
}

function verdictOf({ outcome }: OperationReport): string {
  if (outcome === 'refused') return 'countersign authority revoke would refuse this now:';
  if (outcome === 'unchanged') return 'This CA is revoked already.';
  return 'Nothing is known to break if this CA is revoked now.';
}

function commandPart(command: string, report: OperationReport): VNode {
  return el(
    'section',
    { class: 'explanation', 'aria-label': command },
    el('h2', {}, el('code', {}, command)),
    el('ul', { class: 'plan' }, ...operationLines(report).map((line) => el('li', {}, line.trim()))),
  );
}

function podsView(view: View, model: TrustPodsModel): VNode {
  const { name, signerName, choice, pods, total } = model;
  const { show, workload, from } = choice;
  const query = { signer: name, show, workload, in: choice.in };
  const what = Object.entries(POD_SHOWS).find(([each]) => each === show)?.[1];
  const who = workload === undefined ? 'pods' : `pods of ${choice.in ?? ''} ${workload}`;
  return el(
    'div',
    {},
    el(
      'p',
      {},
      trustLink(view, {}, 'All signers'),
      ' › ',
      trustLink(view, { signer: name }, `${name} (${signerName})`),
    ),
    el('p', { role: 'status' }, `${total} ${who}${what === undefined ? '' : ` ${what}`}`),
    podsTable(view, pods),
    pagerOf(view, ['trust', query], { from, size: TRUST_A_PAGE, total }),
    notesOf('Known by', [
      'PodCertificateRequests, which the API server deletes after 15 minutes; then the age of the pod decides',
    ]),
  );
}

function podsTable(view: View, pods: TrustPodsModel['pods']): VNode {
  if ('lacks' in pods) return lacksOf(pods.lacks);
  const titles = ['Pod', 'Namespace', 'Workload', 'Created', 'Mounts', 'Leaf', 'CAs of its leaf'];
  return tableOf(
    'Pods',
    titles,
    pods.value.map((each) => podCells(view, each)),
  );
}

function podCells(view: View, pod: TrustingPod): readonly Content[] {
  const { namespace, name, workload, createdAt, mountsCertificate, mountsBundle, leaf } = pod;
  const uses = [...(mountsCertificate ? ['certificate'] : []), ...(mountsBundle ? ['bundle'] : [])];
  const issued = linkTo(view, ['issued', { holder: `pod ${namespace}/${name}` }], leaf);
  return [
    name,
    namespace,
    workload,
    timeOf(createdAt, view),
    uses.join(', '),
    leaf === 'none' ? leaf : issued,
    pod.mayHold.map(shortPrint).join(', '),
  ];
}
