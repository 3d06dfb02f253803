// SPDX-License-Identifier: Apache-2.0
/**
 * Appends a component's records to the ledger: those required before an answer, and the results.
 */
import { createHash } from 'node:crypto';
import { conditionMessage } from '#api/request/conditions.ts';
import type { LedgerRecord } from '#ledger/records/record.ts';
import type { LedgerSender, SenderState } from '#ledger/sender/contract.ts';
import type { Clock } from '#base/ports.ts';
import type { Component } from '#component/contract.ts';
import type { RequestFacts } from './request-record.ts';
import { LeafRecord } from './leaf-record.ts';

/** Dependencies of a {@link LedgerRecorder}. */
export interface LedgerRecorderInit {
  /** Sender of records that an answer requires. */
  readonly before: LedgerSender;
  /** Sender of results, for which no caller waits. It is `before` in the mode `best-effort`. */
  readonly after: LedgerSender;
  readonly clock: Clock;
  readonly component: LedgerRecord['component'];
}

type AuthorityRecord = Extract<LedgerRecord, { readonly kind: 'authority' }>;

/**
 * Ends of a request without a certificate. `approved` comes from a component that does not sign.
 */
export type EndKind = 'approved' | 'denied' | 'failed';

/** A component that may append to a ledger. */
export interface RecordingComponent extends Component {
  /** If absent, the component records nothing in a ledger. */
  readonly recorder?: LedgerRecorder | undefined;
}

/**
 * Appends before an answer. In the mode `required`, the request lends its seat at the API server
 * meanwhile, so that more requests share a batch of records.
 */
export function appendBefore(
  { recorder, concurrency }: Pick<RecordingComponent, 'recorder' | 'concurrency'>,
  append: () => Promise<void>,
): Promise<void> {
  return recorder?.state.mode === 'required' ? concurrency.lend(append) : append();
}

/** Maximum bytes of a message in a record. */
const MESSAGE_BYTES = 4000;

/** Appends records of one component. */
export class LedgerRecorder {
  readonly #init: LedgerRecorderInit;

  constructor(init: LedgerRecorderInit) {
    this.#init = init;
  }

  /**
   * Returns the record of a signed leaf. Appends nothing yet.
   *
   * @param leaf - DER
   * @param ca - fingerprint of the CA, if it is known
   */
  leaf(asked: RequestFacts, leaf: Uint8Array, ca: string | undefined): LeafRecord {
    const { before, after, component } = this.#init;
    const digest = createHash('sha256').update(leaf).digest('hex').slice(0, 32);
    return new LeafRecord({
      before,
      after,
      now: () => this.#now(),
      record: {
        ...asked,
        kind: 'issued',
        key: `${component.name}/${asked.request.uid}/${digest}`,
        at: this.#now(),
        component,
        certificate: Buffer.from(leaf).toString('base64'),
        ...(ca === undefined ? {} : { ca }),
      },
    });
  }

  /**
   * Appends a request's end without a certificate, before it is written.
   *
   * @throws SignerError LEDGER_UNAVAILABLE in the mode `required` while the ledger is unavailable
   */
  async ended(
    kind: EndKind,
    asked: RequestFacts,
    why: { readonly reason: string; readonly message?: string | undefined },
  ): Promise<void> {
    const { before, component } = this.#init;
    const message = conditionMessage(why.message ?? '', MESSAGE_BYTES);
    const end = kind === 'approved' ? { kind } : { kind, reason: why.reason, message };
    // Retries and other replicas produce the same record for the same answer to the same request.
    const digest = createHash('sha256')
      .update(JSON.stringify([asked, end]))
      .digest('hex');
    const key = `${component.name}/${asked.request.uid}/${kind}/${digest.slice(0, 32)}`;
    await before.append({ ...asked, ...end, key, at: this.#now(), component });
  }

  /**
   * Appends a certificate that belongs to no request. No caller waits for it.
   *
   * @param certificate - DER
   * @param ca - fingerprint of the CA that signed it. For a CA, its own.
   */
  authority(
    purpose: AuthorityRecord['purpose'],
    signer: AuthorityRecord['signer'],
    { certificate, ca }: { readonly certificate: Uint8Array; readonly ca: string },
  ): void {
    const { after, component } = this.#init;
    const digest = createHash('sha256').update(certificate).digest('hex').slice(0, 32);
    void after.append({
      kind: 'authority',
      key: `${component.name}/${purpose}/${digest}`,
      at: this.#now(),
      component,
      purpose,
      signer,
      certificate: Buffer.from(certificate).toString('base64'),
      ca,
    });
  }

  /** Returns the senders' state for the component's status. */
  get state(): SenderState {
    const { before, after } = this.#init;
    if (before === after) return before.state;
    const [first, second] = [before.state, after.state];
    return {
      mode: first.mode,
      waiting: first.waiting + second.waiting,
      lost: first.lost + second.lost,
      failing: first.failing || second.failing,
    };
  }

  #now(): string {
    return new Date(this.#init.clock()).toISOString();
  }
}
