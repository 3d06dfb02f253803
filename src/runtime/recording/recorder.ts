// SPDX-License-Identifier: Apache-2.0
/** How a component appends to the ledger: what must be there before an answer is written, and what became of it. */
import { createHash } from 'node:crypto';
import { conditionMessage } from '../../api/request/conditions.ts';
import type { LedgerRecord } from '../../ledger/records/record.ts';
import type { LedgerSender, SenderState } from '../../ledger/sender/contract.ts';
import type { Clock } from '../../ports.ts';
import type { AskedFacts } from './asked.ts';
import { LeafRecord } from './leaf-record.ts';

/** What a {@link LedgerRecorder} needs. */
export interface LedgerRecorderInit {
  /** For what must be recorded before it is answered. */
  readonly before: LedgerSender;
  /** For results, which nobody waits for; the same as `before` in the mode `best-effort`. */
  readonly after: LedgerSender;
  readonly clock: Clock;
  readonly component: LedgerRecord['component'];
}

type AuthorityRecord = Extract<LedgerRecord, { readonly kind: 'authority' }>;

/** How a request can end without a certificate; `approved` by a component that does not sign. */
export type EndKind = 'approved' | 'denied' | 'failed';

/** Bytes of a message that a record holds. */
const MESSAGE_BYTES = 4000;

/** Appends records of one component. */
export class LedgerRecorder {
  readonly #init: LedgerRecorderInit;

  constructor(init: LedgerRecorderInit) {
    this.#init = init;
  }

  /**
   * The record of a signed leaf. Nothing is appended yet.
   *
   * @param leaf - DER
   * @param ca - fingerprint of the CA, where it is known
   */
  leaf(asked: AskedFacts, leaf: Uint8Array, ca: string | undefined): LeafRecord {
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
   * Appends how a request ends without a certificate, before that is written.
   *
   * @throws SignerError LEDGER_UNAVAILABLE in the mode `required` while the ledger is away
   */
  async ended(
    kind: EndKind,
    asked: AskedFacts,
    why: { readonly reason: string; readonly message?: string | undefined },
  ): Promise<void> {
    const { before, component } = this.#init;
    const message = conditionMessage(why.message ?? '', MESSAGE_BYTES);
    const end = kind === 'approved' ? { kind } : { kind, reason: why.reason, message };
    // The same answer to the same request is one record, however often it is tried, and by whom.
    const digest = createHash('sha256')
      .update(JSON.stringify([asked, end]))
      .digest('hex');
    const key = `${component.name}/${asked.request.uid}/${kind}/${digest.slice(0, 32)}`;
    await before.append({ ...asked, ...end, key, at: this.#now(), component });
  }

  /**
   * Appends a certificate that no request asked for. Nobody waits for it.
   *
   * @param certificate - DER
   * @param ca - fingerprint of the CA that signed it; of a CA, its own
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

  /** What a status says of it. */
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
