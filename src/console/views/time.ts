// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import { formatTime } from '#api/object/time.ts';
import { SPANS, type CaBar, type TimeModel } from '../pages/time.ts';
import { addressOf, type View } from './address.ts';
import { el, type Content } from './element.ts';
import { choiceOf, cutNote, fieldOf, lacksOf, linkTo, notesOf, tableOf, timeOf } from './parts.ts';

/** Units of the picture: the style sheet makes it as wide as the page. */
const PICTURE_WIDTH = 1_000;
const BAR = 16;
const GAP = 6;
const DENSITY = 60;
const AXIS = 20;

/** Returns the page Time. */
export function timeView(view: View, model: TimeModel): VNode {
  const { bars, endings, total, places, cutAt, span, signer } = model;
  const rows = endings.map(({ what, signer: of, fingerprint, at, renewal, by }) => [
    fingerprint === undefined ? what : linkTo(view, ['certificate', { fingerprint }], what),
    of,
    timeOf(at, view),
    el('span', { class: `renewal ${renewal}` }, by),
  ]);
  return el(
    'div',
    {},
    el(
      'form',
      { method: 'get', action: addressOf(view, 'time'), role: 'search' },
      choiceOf(
        ['span', 'Span'],
        Object.keys(SPANS).map((each) => [each, each] as const),
        span,
      ),
      fieldOf('signer', 'Signer', signer),
      el('button', {}, 'Show'),
    ),
    cutNote(cutAt),
    'lacks' in bars ? lacksOf(bars.lacks) : picture(view, model, bars.value),
    el('h2', {}, 'Next to expire'),
    tableOf('Next to expire', ['Certificate', 'Signer', 'Expires', 'Renewed by'], rows),
    total > endings.length
      ? el('p', {}, linkTo(view, ['issued', {}], `${total - endings.length} more expire later`))
      : undefined,
    notesOf('Searched', places),
  );
}

function picture(view: View, model: TimeModel, bars: readonly CaBar[]): VNode {
  const { from, to, density } = model;
  const x = (at: number): number =>
    Math.round(Math.min(1, Math.max(0, (at - from) / (to - from))) * PICTURE_WIDTH);
  const top = AXIS + DENSITY + GAP;
  const height = top + bars.length * (BAR + GAP);
  const most = Math.max(1, ...density);
  const columns = density.flatMap((count, index): readonly VNode[] => {
    if (count === 0) return [];
    const size = Math.max(2, Math.round((count / most) * DENSITY));
    const wide = PICTURE_WIDTH / density.length;
    const title = el('title', {}, `${count} leaves expire here`);
    return [
      el(
        'rect',
        {
          class: 'density',
          x: Math.round(index * wide),
          y: AXIS + DENSITY - size,
          width: Math.ceil(wide) - 1,
          height: size,
        },
        title,
      ),
    ];
  });
  const drawn = bars.map((bar, index) => barOf(bar, x, top + index * (BAR + GAP)));
  const now = x(view.now);
  return el(
    'figure',
    {},
    el(
      'svg',
      {
        viewBox: `0 0 ${PICTURE_WIDTH} ${height}`,
        role: 'img',
        'aria-label': `CAs and leaves from ${formatTime(from)} to ${formatTime(to)}. The table below has the same dates.`,
      },
      ...columns,
      ...drawn,
      el('line', { class: 'now', x1: now, x2: now, y1: 0, y2: height }),
      el('text', { x: now + 4, y: 14 }, 'now'),
    ),
    el(
      'figcaption',
      {},
      `From ${formatTime(from)} to ${formatTime(to)}. Bars are CAs, marks their next events, and columns count the leaves that expire.`,
    ),
  );
}

function barOf(
  { signer, fingerprint, phase, from, to, mark }: CaBar,
  x: (at: number) => number,
  y: number,
): VNode {
  const text = `${signer} ${fingerprint.slice(0, 23)} ${phase}: ${formatTime(from)} to ${formatTime(to)}`;
  const marked: Content =
    mark === undefined
      ? undefined
      : el(
          'circle',
          { class: 'mark', cx: x(mark.at), cy: y + BAR / 2, r: 5 },
          el('title', {}, `${mark.what} at ${formatTime(mark.at)}`),
        );
  return el(
    'g',
    {},
    el(
      'rect',
      {
        class: `bar ${phase}`,
        x: x(from),
        y,
        width: Math.max(2, x(to) - x(from)),
        height: BAR,
        rx: 3,
      },
      el('title', {}, text),
    ),
    el('text', { x: x(from) + 6, y: y + 12 }, `${signer} (${phase})`),
    marked,
  );
}
