// SPDX-License-Identifier: Apache-2.0
import type { Answer, Ok, Problem } from '#acme/protocol/answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import type { ServerOrder } from '#acme/orders/memory.ts';
import type { FoundAuthorization } from '#acme/orders/order-events.ts';
import type { ReadAuthorization } from '#acme/orders/challenge-events.ts';

/** What happens to a call instead of its answer. */
export type Fault = Problem | NoAnswer | 'lost';

export const LOST: NoAnswer = {
  kind: 'transport',
  cause: 'cut-off',
  detail: 'the connection ended',
  mayHaveArrived: true,
};

export function problem(status: number, type: Problem['type'], retryAfterMs?: number): Problem {
  const waiting = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { kind: 'problem', status, type, detail: '"no"', subproblems: [], ...waiting };
}

interface CaOrder {
  status: ServerOrder['status'];
  readonly authorizations: string[];
  finalized: number;
}

interface CaAuthorization {
  status: 'pending' | 'valid' | 'invalid';
  challenge: 'pending' | 'processing' | 'valid' | 'invalid';
  readonly name: string;
  readonly wildcard: boolean;
  accepted: number;
}

type Body = ServerOrder & { readonly url: string; readonly error?: undefined };

/**
 * An ACME server as RFC 8555 has it, in memory: what it was asked is done when the call arrives,
 * and seen when it is read again. It says what was done to it more often than it may be.
 */
export class SimulatedCa {
  readonly orders = new Map<string, CaOrder>();
  readonly authorizations = new Map<string, CaAuthorization>();
  /** Values that are presented, by name. */
  readonly records = new Map<string, Set<string>>();
  readonly faults: (call: string) => Fault | undefined;
  calls = 0;
  refusesReplaces = false;

  constructor(faults: (call: string) => Fault | undefined = () => undefined) {
    this.faults = faults;
  }

  newOrder(names: readonly string[], replaces = false): Answer<Body> {
    return this.#call('newOrder', () => {
      if (replaces && this.refusesReplaces) return problem(409, 'alreadyReplaced');
      const url = `order-${this.orders.size + 1}`;
      const authorizations = names.map((name) => {
        const wildcard = name.startsWith('*.');
        const authorization = `authz-${this.authorizations.size + 1}`;
        this.authorizations.set(authorization, {
          status: 'pending',
          challenge: 'pending',
          wildcard,
          accepted: 0,
          name: wildcard ? name.slice(2) : name,
        });
        return authorization;
      });
      this.orders.set(url, { status: 'pending', authorizations, finalized: 0 });
      return this.#body(url);
    });
  }

  readOrder(url: string): Answer<Body> {
    return this.#call('readOrder', () => {
      const order = this.#order(url);
      const all = order.authorizations.map((each) => this.#authorization(each).status);
      if (order.status === 'processing') order.status = 'valid';
      if (order.status === 'pending' && all.every((each) => each === 'valid'))
        order.status = 'ready';
      if (all.includes('invalid')) order.status = 'invalid';
      return this.#body(url);
    });
  }

  finalize(url: string): Answer<Body> {
    return this.#call('finalize', () => {
      const order = this.#order(url);
      if (order.status !== 'ready') return problem(403, 'orderNotReady');
      order.status = 'processing';
      order.finalized += 1;
      return this.#body(url);
    });
  }

  download(): Answer<string> {
    return this.#call('download', () => 'PEM');
  }

  readAccount(): Answer<{ readonly status: string }> {
    return this.#call('readAccount', () => ({ status: 'valid' }));
  }

  describe(url: string): Answer<FoundAuthorization> {
    return this.#call('readAuthorization', () => {
      const { name, wildcard, status } = this.#authorization(url);
      const offered = [{ type: 'dns-01', url: `${url}/dns`, token: 'token' }];
      const wasValid = status === 'valid';
      return {
        authorization: { url, name, wildcard, wasValid, offered },
        state: 'pending',
      };
    });
  }

  readAuthorization(url: string): Answer<ReadAuthorization> {
    return this.#call('readAuthorization', () => {
      const authorization = this.#authorization(url);
      if (authorization.challenge === 'processing') {
        const proved = this.records.get(authorization.name)?.has(url) === true;
        authorization.challenge = proved ? 'valid' : 'invalid';
        authorization.status = authorization.challenge;
      }
      const { status, challenge } = authorization;
      return { authorization: status, challenge };
    });
  }

  accept(url: string): Answer<null> {
    return this.#call('accept', () => {
      const authorization = this.#authorization(url);
      authorization.accepted += 1;
      if (authorization.challenge === 'pending') authorization.challenge = 'processing';
      return null;
    });
  }

  #call<T>(name: string, run: () => T | Problem): Answer<T> {
    this.calls += 1;
    const fault = this.faults(name);
    if (fault !== undefined && fault !== 'lost') return fault;
    const value = run();
    if (fault === 'lost') return LOST;
    if (isProblem(value)) return value;
    return { kind: 'ok', value } satisfies Ok<T>;
  }

  #body(url: string): Body {
    const { status, authorizations } = this.#order(url);
    const certificate = status === 'valid' ? `${url}/certificate` : undefined;
    return { url, status, authorizations, finalize: `${url}/finalize`, certificate };
  }

  #order(url: string): CaOrder {
    const order = this.orders.get(url);
    if (order === undefined) throw new Error(`no order ${url}`);
    return order;
  }

  #authorization(url: string): CaAuthorization {
    const authorization = this.authorizations.get(url);
    if (authorization === undefined) throw new Error(`no authorization ${url}`);
    return authorization;
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'problem';
}
