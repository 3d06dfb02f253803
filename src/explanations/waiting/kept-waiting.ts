// SPDX-License-Identifier: Apache-2.0
/** What keeps a request waiting that a component could answer by its spec alone. Pure. */
import type { HeldSigning } from '../../operations/held-signing.ts';
import type { Journey } from '../explanation.ts';
import type { Said } from '../read-events.ts';

/** A request that could be answered, and is not, because the anchor of its CA is not where it is verified. */
export function withHeld(journey: Journey, held: HeldSigning | undefined): Journey {
  if (held === undefined || journey.state !== 'WaitsForComponent') return journey;
  const { message, until } = held;
  if (until === undefined) {
    const todo = ['countersign check   # is attester running, may it publish the bundle?'];
    return { ...journey, state: 'WaitsForTrust', summary: message, todo };
  }
  const todo = [
    'nothing: it is answered then. countersign authority show says since when it is published',
  ];
  const next = { what: 'the CA signs', at: until };
  return { ...journey, state: 'WaitsForTrust', summary: message, next, todo };
}

/**
 * A request of which a component has said why it does not answer it.
 *
 * @param said - the newest warning, if it is about this request
 */
export function withSaid(journey: Journey, said: Said | undefined): Journey {
  if (said === undefined || journey.state !== 'WaitsForComponent') return journey;
  const { at, component, reason, message } = said;
  const summary = `${reason}: ${message} (${component} said so at ${at}; it answers within seconds once that is mended)`;
  return { ...journey, summary };
}
