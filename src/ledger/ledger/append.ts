// SPDX-License-Identifier: Apache-2.0
/** Appends the batch of a component, in one round trip and one transaction. */
import { attempt, messageOf, SignerError } from '#base/errors.ts';
import {
  encodeAnswer,
  readRecord,
  SALT_BYTES,
  withoutFields,
  type AppendRequest,
  type LedgerRecord,
  type LedgerStore,
  type LogNaming,
} from '../index.ts';
import type { OmittableField } from '#base/vocabulary.ts';
import type { Component } from '#component/contract.ts';
import { componentOf, type TokenAuthenticator } from './token-review.ts';
import { TooManyLookupsError } from './caller-lookups.ts';
import { refusalOf, type AppendGrants } from './grants.ts';
import * as messages from './messages.ts';
import { LEDGER_SERIES } from './metrics.ts';

/** Dependencies of an append. */
export interface AppendInit {
  readonly component: Component;
  readonly store: LedgerStore;
  readonly authenticate: TokenAuthenticator;
  readonly grants: AppendGrants;
  /** Members of records to leave out. */
  readonly omitted: ReadonlySet<OmittableField>;
  /** Namespace of the components whose tokens are accepted. */
  readonly namespace: string;
  /**
   * Returns the naming of new logs, or undefined while this replica does not append or has no key.
   */
  readonly naming: () => LogNaming | undefined;
}

/** A response to a component. */
export interface AppendAnswer {
  readonly status: 200 | 400 | 401 | 403 | 413 | 503;
  readonly body: string;
}

/** Reads a batch, or returns the error response. */
export type ReadBatch = () => Promise<
  string | { readonly status: 413 | 503; readonly body: string }
>;

/** Records of a batch at most. A sender sends 256. */
const MAX_APPENDED = 1_000;

/**
 * Appends the batch of the component with `token`. It reads the batch only after authorization.
 * @param address - IP address of the client
 */
export async function appendFor(
  init: AppendInit,
  token: string,
  read: ReadBatch,
  address?: string,
): Promise<AppendAnswer> {
  const { component, namespace } = init;
  if (init.naming() === undefined) return refuse(component, 503, messages.NOT_YET);
  try {
    const caller = await init.authenticate(token, address);
    if (caller === undefined) return refuse(component, 401, messages.NO_TOKEN);
    const { username } = caller;
    const sender = componentOf(username, namespace);
    if (sender === undefined || !init.grants.signers.has(sender)) {
      return refuse(component, 403, messages.MAY_NOT_APPEND);
    }
    const body = await read();
    if (typeof body !== 'string') return refuse(component, body.status, body.body.trim());
    const sent = parsed(body);
    if (sent === undefined) return refuse(component, 400, messages.NOT_RECORDS);
    // Reading takes up to half a minute, so another replica may lead now.
    const naming = init.naming();
    if (naming === undefined) return refuse(component, 503, messages.NOT_YET);
    const results = await appended(init, naming, { sender, username }, sent);
    return { status: 200, body: encodeAnswer(results) };
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return refuseAfter(component, error);
  }
}

function refuseAfter(component: Component, error: SignerError): AppendAnswer {
  // Clients without any right cause these, as many as they like.
  if (!(error instanceof TooManyLookupsError)) {
    component.log.warn({ error: error.message }, messages.RECORDS_NOT_APPENDED);
  }
  return refuse(component, 503, messageOf(error));
}

function refuse({ metrics }: Component, status: AppendAnswer['status'], why: string): AppendAnswer {
  metrics.of(LEDGER_SERIES).refused.inc({ sender: 'unknown', code: String(status) });
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
  const batch = judged.flatMap((each): AppendRequest[] =>
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
  const counts = component.metrics.of(LEDGER_SERIES);
  let next = 0;
  return judged.map((each) => {
    const result = each instanceof SignerError ? each : kept[(next += 1) - 1];
    if (result instanceof SignerError) {
      counts.refused.inc({ sender, code: result.code });
      return result;
    }
    const isNew = result?.known === false && !(each instanceof SignerError);
    if (isNew) counts.appended.inc({ sender, kind: each.kind });
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
    return Array.isArray(value) && value.length <= MAX_APPENDED ? value : undefined;
  } catch {
    return undefined;
  }
}
