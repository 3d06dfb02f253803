// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import { formatTime } from '#api/object/time.ts';
import type { Finding } from '#diagnose/check/finding.ts';
import { verdictOf } from '#diagnose/check/report.ts';
import {
  SEVERITIES,
  type OverviewModel,
  type ReadCount,
  type Rows,
} from '../pages/overview-model.ts';
import { addressOf, type PageQuery, type View } from './address.ts';
import { el, type Content } from './element.ts';
import { cutNote, lacksOf, linkTo, notesOf, tableOf, timeOf } from './parts.ts';

const NAMES = { error: 'errors', warning: 'warnings', unseen: 'not seen', ok: 'passed' } as const;

/** Returns the page Overview. While parts are being read, the script follows the stream. */
export function overviewView(view: View, model: OverviewModel, query: PageQuery): VNode {
  const stream = addressOf(view, 'stream', { ...query, page: 'overview' });
  const follows = model.reading === undefined ? {} : { 'data-stream': stream };
  return el(
    'div',
    { id: 'overview', 'data-prefix': view.prefix, ...follows },
    ...overviewParts(view, model),
  );
}

/** Returns the parts of the page. The browser renders the same parts from the stream. */
export function overviewParts(view: View, model: OverviewModel): readonly Content[] {
  return [
    readingPart(view, model),
    findingsPart(view, model),
    signersPart(view, model),
    waitingPart(view, model),
    scheduledPart(view, model),
    dayPart(view, model),
  ];
}

function part(title: string, ...content: readonly Content[]): VNode {
  return el('section', {}, el('h2', {}, title), ...content);
}

/** Returns the content of a part that is still being read. */
function awaited(): VNode {
  return el('p', { class: 'none' }, 'Being read.');
}

function readingPart(view: View, { reading, failures }: OverviewModel): Content {
  if (failures.length > 0) {
    const why = failures.join('; ');
    const reload = linkTo(view, ['overview', {}], 'Read again');
    return el('p', { class: 'lacks', role: 'alert' }, `Reading failed. ${why} `, reload);
  }
  if (reading === undefined) return undefined;
  const counts = reading.map(countText).join(', ');
  return el(
    'p',
    { class: 'notes', role: 'status' },
    el('strong', {}, 'Reading the cluster. '),
    counts === '' ? '' : `So far: ${counts}. `,
    linkTo(view, ['overview', {}], 'Reload'),
  );
}

function countText({ what, count, total }: ReadCount): string {
  return total === undefined ? `${count} ${what}` : `${count} of ${total} ${what}`;
}

/** Returns the sentence about rows that the page leaves out. */
function restOf({ rows, total }: Rows<unknown>, where: Content): Content {
  const rest = total - rows.length;
  return rest > 0 ? el('p', {}, `${rest} more: `, where) : undefined;
}

function findingsPart(view: View, { findings }: OverviewModel): VNode {
  if (findings === undefined) return part('Findings', awaited());
  const { counts, shown } = findings;
  const links = SEVERITIES.map((each) =>
    el(
      'li',
      { class: each },
      linkTo(view, ['overview', { show: each }], `${counts[each]} ${NAMES[each]}`),
    ),
  );
  return part(
    'Findings',
    el('p', { class: 'verdict' }, `${verdictOf(counts)}.`),
    el('ul', { class: 'counts' }, ...links),
    el('ul', { class: 'findings' }, ...shown.rows.map(findingItem)),
    restOf(shown, 'countersign check -o json lists all.'),
  );
}

function findingItem({ id, severity, subject, why, remediation }: Finding): VNode {
  const about = subject === undefined ? '' : `${subject}: `;
  return el(
    'li',
    { class: severity },
    el('strong', {}, `${severity} `),
    el('code', {}, id),
    ` ${about}${why}`,
    remediation === undefined ? undefined : el('p', { class: 'remedy' }, `→ ${remediation}`),
  );
}

function signersPart(view: View, { signers }: OverviewModel): VNode {
  if (signers === undefined) return part('Signers', awaited());
  if ('lacks' in signers) return part('Signers', lacksOf(signers.lacks));
  const rows = signers.value.rows.map(({ name, signerName, ready, authorities, warnings }) => [
    linkTo(view, ['trust', { signer: name }], name),
    signerName,
    ready.status === 'True' ? 'yes' : `no: ${ready.reason ?? 'not reported'}`,
    linkTo(view, ['time', { signer: name }], `${authorities}`),
    warnings.join('; '),
  ]);
  return part(
    `Signers (${signers.value.total})`,
    tableOf('Signers', ['Name', 'Signer name', 'Ready', 'CAs', 'Warnings'], rows),
    restOf(signers.value, linkTo(view, ['trust', {}], 'all signers')),
  );
}

function waitingPart(view: View, { waiting, findings }: OverviewModel): VNode {
  if (waiting === undefined) {
    const content = findings === undefined ? awaited() : lacksOf('read the installation');
    return part('Waiting requests', content);
  }
  if ('lacks' in waiting) return part('Waiting requests', lacksOf(waiting.lacks));
  const rows = waiting.value.rows.map(({ signerName, waitsForApproval, count, oldest }) => [
    signerName,
    waitsForApproval ? 'approval by a person or a rule' : 'a component',
    linkTo(
      view,
      ['requests', { signer: signerName, state: waitsForApproval ? 'approval' : 'component' }],
      `${count}`,
    ),
    timeOf(formatTime(oldest), view),
  ]);
  return part(
    'Waiting requests',
    tableOf('Waiting requests', ['Signer name', 'Waiting for', 'Requests', 'Oldest'], rows),
    restOf(waiting.value, linkTo(view, ['requests', { state: 'waiting' }], 'all that wait')),
  );
}

function scheduledPart(view: View, { scheduled, signers }: OverviewModel): VNode {
  if (scheduled === undefined) {
    const lacks = signers !== undefined && 'lacks' in signers ? signers.lacks : undefined;
    return part('Scheduled rotations', lacks === undefined ? awaited() : lacksOf(lacks));
  }
  const rows = scheduled.rows.map(({ signer, fingerprint, what, at }) => [
    linkTo(view, ['trust', { signer }], signer),
    linkTo(view, ['trust', { signer, ca: fingerprint }], el('code', {}, fingerprint.slice(0, 23))),
    what,
    timeOf(at, view),
  ]);
  return part(
    'Scheduled rotations',
    tableOf('Scheduled rotations', ['Signer', 'CA', 'Event', 'When'], rows),
    restOf(scheduled, linkTo(view, ['time', {}], 'all on the line of time')),
  );
}

function dayPart(view: View, { day }: OverviewModel): VNode {
  if (day === undefined) return part('Issued in the last day', awaited());
  const rows = day.rows.map(({ signerName, count }) => [
    signerName,
    linkTo(view, ['issued', { signer: signerName, issued: '24h' }], `${count}`),
  ]);
  return part(
    'Issued in the last day',
    cutNote(day.cutAt),
    tableOf('Issued in the last day', ['Signer name', 'Certificates'], rows),
    restOf(day, linkTo(view, ['issued', { issued: '24h' }], 'all certificates of the day')),
    notesOf('Searched', day.places),
  );
}
