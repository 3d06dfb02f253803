// SPDX-License-Identifier: Apache-2.0
/** Takes a batch: one round trip and one transaction. */
import { attempt, messageOf, SignerError } from '../../errors.ts';
import {
  encodeAnswer,
  readRecord,
  SALT_BYTES,
  withoutFields,
  type Appending,
  type LedgerRecord,
  type LedgerStore,
  type LogNaming,
} from '../../ledger/index.ts';
import type { OmittableField } from '../../vocabulary.ts';
import type { Component } from '../../runtime/component/component.ts';
import { componentOf, type WhoIs } from './callers.ts';
import { refusalOf, type AppendGrants } from './grants.ts';

/** What a batch is taken with. */
export interface AppendInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly whoIs: WhoIs;
  readonly grants: AppendGrants;
  /** Members of records that are not kept. */
  readonly omitted: ReadonlySet<OmittableField>;
  /** Of the components whose tokens count. */
  readonly namespace: string;
  /** Nothing while this replica does not append, or has no key yet. */
  readonly naming: () => LogNaming | undefined;
}

/** An answer to a component. */
export interface AppendAnswer {
  readonly status: 200 | 400 | 401 | 403 | 413 | 503;
  readonly body: string;
}

/** Reads a batch, or says why it is not taken. */
export type ReadBatch = () => Promise<
  string | { readonly status: 413 | 503; readonly body: string }
>;

const NOT_YET = 'this replica does not lead, or has no key yet';
/** A sender sends 256. */
const MOST_RECORDS = 1_000;

/** Appends the batch of whoever has `token`, which is not read before it is known that they may. */
export async function appendFor(
  init: AppendInit,
  token: string,
  read: ReadBatch,
): Promise<AppendAnswer> {
  const { component, namespace } = init;
  if (init.naming() === undefined) return refuse(component, 503, NOT_YET);
  try {
    const username = await init.whoIs(token);
    if (username === undefined)
      return refuse(component, 401, 'no token of this cluster for the ledger');
    const sender = componentOf(username, namespace);
    if (sender === undefined || !init.grants.signers.has(sender)) {
      return refuse(component, 403, 'the token is of nobody who appends');
    }
    const body = await read();
    if (typeof body !== 'string') return refuse(component, body.status, body.body.trim());
    const sent = parsed(body);
    if (sent === undefined) return refuse(component, 400, 'the body is no list of records');
    // To read it takes up to half a minute: another one may lead now.
    const naming = init.naming();
    if (naming === undefined) return refuse(component, 503, NOT_YET);
    const results = await appended(init, naming, { sender, username }, sent);
    return { status: 200, body: encodeAnswer(results) };
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    component.log.warn({ error: error.message }, 'records are not appended');
    return refuse(component, 503, messageOf(error));
  }
}

function refuse({ metrics }: Component, status: AppendAnswer['status'], why: string): AppendAnswer {
  metrics.ledgerRefused('unknown', String(status));
  return { status, body: `${why}\n` };
}

interface Sender {
  readonly sender: string;
  readonly username: string;
}

async function appended(
  { component, store, grants, omitted }: AppendInit,
  naming: LogNaming,
  { sender, username }: Sender,
  sent: readonly unknown[],
): Promise<readonly (SignerError | undefined)[]> {
  const judged = sent.map((value) => judge(grants, sender, value));
  const batch = judged.flatMap((each): Appending[] =>
    each instanceof SignerError
      ? []
      : [
          {
            record: withoutFields(each, omitted),
            by: username,
            salt: component.random(SALT_BYTES),
          },
        ],
  );
  const context = { naming, now: component.clock() };
  const kept = batch.length === 0 ? [] : await store.append(batch, context);
  let next = 0;
  return judged.map((each) => {
    const result = each instanceof SignerError ? each : kept[(next += 1) - 1];
    if (result instanceof SignerError) {
      component.metrics.ledgerRefused(sender, result.code);
      return result;
    }
    const isNew = result?.known === false && !(each instanceof SignerError);
    if (isNew) component.metrics.ledgerAppended(sender, each.kind);
    return undefined;
  });
}

function judge(grants: AppendGrants, sender: string, value: unknown): LedgerRecord | SignerError {
  const record = attempt(() => readRecord(value));
  if (record instanceof SignerError) return record;
  return refusalOf(grants, sender, record) ?? record;
}

function parsed(body: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) && value.length <= MOST_RECORDS ? value : undefined;
  } catch {
    return undefined;
  }
}
