// SPDX-License-Identifier: Apache-2.0
/**
 * A witness (C2SP tlog-witness), which cosigns a checkpoint only if the log still begins with what
 * it has cosigned before.
 */
import type { Exchange } from '#base/egress/exchange.ts';
import { attempt, SignerError } from '#base/errors.ts';
import {
  addCheckpointBody,
  consistencyPath,
  formatVerifierKey,
  openCosignature,
  type LedgerStore,
  type WitnessKey,
} from '#ledger/index.ts';
import {
  asked,
  refusedBy,
  type Destination,
  type OutgoingCheckpoint,
  type PlaceAnswer,
  type PublishOutcome,
} from './destination.ts';
import * as messages from '../messages.ts';

/** One witness. */
export interface WitnessInit {
  readonly key: WitnessKey;
  /** The submission prefix, below which `add-checkpoint` is. */
  readonly url: URL;
  readonly store: Pick<LedgerStore, 'tile'>;
  readonly exchange: Pick<Exchange, 'send'>;
}

/** A size that a witness returns: decimal, below 2^53. */
const SIZE = /^(0|[1-9]\d{0,15})\n?$/;

/** Returns a destination that sends each checkpoint with the proof from the witness's last size. */
export function witness(init: WitnessInit): Destination {
  /** Last cosigned size by origin. If it is unknown, the witness returns it. */
  const seen = new Map<string, number>();

  const add = async (
    checkpoint: OutgoingCheckpoint,
    older: number,
    signal: AbortSignal,
  ): Promise<PlaceAnswer | string> => {
    const { log, note, size } = checkpoint;
    const read = (level: number, index: number): Promise<Uint8Array | undefined> =>
      init.store.tile(log.number, level, index);
    const proof = await consistencyPath(read, older, size);
    const base = init.url.href.endsWith('/') ? init.url.href : `${init.url.href}/`;
    return asked(init.exchange, {
      method: 'POST',
      url: `${base}add-checkpoint`,
      signal,
      body: addCheckpointBody(older, proof, note),
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
  };

  return {
    name: `witness/${init.key.name}`,
    publish: async (checkpoint, signal) => {
      const { log, size } = checkpoint;
      let answer = await add(checkpoint, seen.get(log.origin) ?? 0, signal);
      if (typeof answer !== 'string' && answer.status === 409) {
        const [, known] = SIZE.exec(answer.body) ?? [];
        if (known === undefined) return refusedBy(answer);
        if (Number(known) > size) return largerTree(Number(known), size);
        seen.set(log.origin, Number(known));
        answer = await add(checkpoint, Number(known), signal);
      }
      if (typeof answer === 'string') return { kind: 'failed', why: answer };
      const outcome = judged(answer, checkpoint, init.key);
      if (outcome.kind === 'taken') seen.set(log.origin, size);
      return outcome;
    },
  };
}

function judged(
  answer: PlaceAnswer,
  { log, note }: OutgoingCheckpoint,
  key: WitnessKey,
): PublishOutcome {
  if (answer.status === 422) {
    const why = messages.OTHER_TREE;
    return { kind: 'contradicted', why };
  }
  if (answer.status === 404) {
    const why = messages.unknownLog(
      formatVerifierKey({ name: log.origin, publicKey: log.publicKey }),
    );
    return { kind: 'failed', why };
  }
  if (answer.status !== 200) return refusedBy(answer);
  const text = note.slice(0, note.lastIndexOf('\n\n') + 1);
  const cosigned = attempt(() => openCosignature(answer.body, text, key));
  return cosigned instanceof SignerError
    ? { kind: 'failed', why: cosigned.message }
    : { kind: 'taken', cosignature: cosigned.line };
}

function largerTree(known: number, size: number): PublishOutcome {
  const why = messages.largerTree(known, size);
  return { kind: 'contradicted', why };
}
