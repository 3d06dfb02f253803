// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import { quantity } from '#base/quantity.ts';
import { RESTARTS_A_PAGE, type RestartsModel } from '../pages/restarts.ts';
import type { View } from './address.ts';
import { el, type Content } from './element.ts';
import { pagerOf, tableOf } from './parts.ts';

/** Returns the page Restarts. */
export function restartsView(view: View, { rows, total, from, current }: RestartsModel): VNode {
  const cells = rows.map(({ workload, when, why }) => [workload, when, why]);
  return el(
    'div',
    {},
    el(
      'p',
      {},
      'The restarts that pod-refresher makes for changed certificates, if it runs with its default flags. For other flags, use ',
      el('code', {}, 'countersign refresh plan'),
      '.',
    ),
    el(
      'p',
      { class: 'verdict', role: 'status' },
      `${quantity(total, 'workload')} to restart or to look at, ${current} up to date`,
    ),
    total + current === 0 ? optInPart() : tableOf('Planned restarts', TITLES, cells),
    pagerOf(view, ['restarts', {}], { from, size: RESTARTS_A_PAGE, total }),
  );
}

const TITLES = ['Workload', 'When', 'Why'];

function optInPart(): Content {
  return el(
    'p',
    { class: 'notes' },
    'No workload has opted in. Label its namespace with ',
    el('code', {}, 'countersign.dev/refresh=enabled'),
    ', and annotate the workload with ',
    el('code', {}, 'countersign.dev/refresh=secrets'),
    '.',
  );
}
