// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import { printable } from '#base/quote.ts';
import type { TrustEdge, TrustGraph, TrustNode } from '../pages/trust-graph.ts';
import { addressOf, type View } from './address.ts';
import { el } from './element.ts';

/** Units of the picture: the style sheet makes it as wide as the page. */
const COLUMN = 270;
const BOX = 210;
const ROW = 56;
const HEIGHT = 44;
const MARGIN = 2;
/** Characters that a box has room for. The whole text is in its title. */
const CHARACTERS_A_BOX = 25;

/** Returns the picture of a graph. Each node is a link, which the keyboard reaches in order. */
export function graphFigure(view: View, graph: TrustGraph, signer: string): VNode {
  const { nodes, edges, rows } = graph;
  const width = 3 * COLUMN + BOX + 2 * MARGIN;
  const place = placesOf(graph);
  const arrows = edges.map((edge) => arrowOf(edge, place));
  const boxes = nodes.map((node, index) => boxOf(view, node, { signer, at: place(index) }));
  return el(
    'figure',
    {},
    el(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Graph of the trust' },
      el(
        'svg',
        {
          class: 'graph',
          viewBox: `0 0 ${width} ${rows * ROW + MARGIN}`,
          role: 'group',
          'aria-label':
            'Signer, CAs and anchors, bundle, targets and workloads. The tables have the same.',
        },
        ...arrows,
        ...boxes,
      ),
    ),
    el(
      'figcaption',
      {},
      'From left to right: the signer, its CAs and strange anchors, the bundle, and who trusts it.',
    ),
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

type Place = (index: number) => Point;

/** Returns a function of the top left corner of each node: shorter columns are centered. */
function placesOf({ nodes, rows }: TrustGraph): Place {
  const counts = [0, 1, 2, 3].map((each) => nodes.filter(({ column }) => column === each).length);
  return (index) => {
    const { column = 0, row = 0 } = nodes[index] ?? {};
    const above = (rows - (counts[column] ?? 0)) / 2;
    return { x: MARGIN + column * COLUMN, y: MARGIN + Math.round((above + row) * ROW) };
  };
}

function arrowOf({ from, to, isForeign }: TrustEdge, place: Place): VNode {
  const [a, b] = [place(from), place(to)];
  const [startX, startY] = [a.x + BOX, a.y + HEIGHT / 2];
  const [endX, endY] = [b.x, b.y + HEIGHT / 2];
  const middle = (startX + endX) / 2;
  const d = `M${startX} ${startY}C${middle} ${startY} ${middle} ${endY} ${endX} ${endY}`;
  return el('path', { class: isForeign ? 'arrow foreign' : 'arrow', d });
}

function boxOf(
  view: View,
  { kind, title, note, query }: TrustNode,
  { signer, at: { x, y } }: { readonly signer: string; readonly at: Point },
): VNode {
  return el(
    'a',
    { href: addressOf(view, 'trust', { signer, ...query }), class: `node ${kind}` },
    el('title', {}, `${title}: ${note}`),
    el('rect', { x, y, width: BOX, height: HEIGHT, rx: 5 }),
    el('text', { x: x + 9, y: y + 18, class: 'name' }, clipped(title)),
    el('text', { x: x + 9, y: y + 35 }, clipped(note)),
  );
}

/** Shows hidden characters before it counts, since each of them takes several. */
function clipped(text: string): string {
  const shown = printable(text);
  return shown.length <= CHARACTERS_A_BOX ? shown : `${shown.slice(0, CHARACTERS_A_BOX - 1)}…`;
}
