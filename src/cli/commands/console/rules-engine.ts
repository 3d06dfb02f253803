// SPDX-License-Identifier: Apache-2.0
import { stringify } from 'yaml';
import type { ClusterSigner, SignerObject } from '#api/signer/cluster-signer.ts';
import type { Delay } from '#base/ports.ts';
import { createSignerDeadline } from '#component/signers/deadline.ts';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import { runInSlices } from '#component/signers/run-in-slices.ts';
import type {
  ReadRules,
  ReplayedSample,
  ReplayResult,
  RulesEngine,
  SampleRequest,
  SampleVerdict,
} from '#console/rules-engine.ts';
import type { Client } from '#kube/client/client.ts';
import {
  factsOfCertificateRequest,
  factsOfCsr,
  factsOfPodRequest,
  type RequestFacts,
} from '#requests/recording/request-record.ts';
import { pagesOf } from '#cli/sources/ledger-records.ts';
import { replayJudge, type ReplayJudge } from '../policy/replay-judge.ts';
import { Replay, type ReplayedRequest } from '../policy/replay-report.ts';
import { parseSignerFile } from '../policy/signer-file.ts';

/** The time that the page replays, as a flag of `countersign policy replay`. */
const REPLAYED = '7d';
/** Records of one replay. The command has no such limit. */
const MAX_REPLAYED = 2_000;
/** Differences that the page shows. */
const MAX_DIFFERENT = 100;
/** Longest wait for the budget in one replay. */
const MAX_WAIT_MS = 15_000;

/** The dependencies of a rules engine. */
export interface RulesEngineInit {
  readonly client: Client;
  readonly delay: Delay;
  /** Namespace of the budget: no namespace of the cluster has this name. */
  readonly budget: string;
}

/** Creates the engine of one session. */
export function createRulesEngine(init: RulesEngineInit): RulesEngine {
  return { yamlOf, read: (yaml) => read(init, yaml) };
}

/** Returns the document that a person would apply. */
function yamlOf({ apiVersion, kind, metadata, spec }: ClusterSigner): string {
  const { name, labels } = metadata;
  const kept = { name, ...(labels === undefined ? {} : { labels }) };
  return stringify({ apiVersion, kind, metadata: kept, spec });
}

async function read(init: RulesEngineInit, yaml: string): Promise<ReadRules> {
  const signer = parseSignerFile(yaml, 'the text');
  const owner = { namespace: init.budget, name: signer.metadata.name };
  const deadline = createSignerDeadline(owner, () => undefined);
  const judge = await runInSlices(() => {
    return Promise.resolve(replayJudge(signer, [], deadline));
  }, owner);
  return {
    signerName: signer.spec.signerName,
    judge: (sample) =>
      runInSlices(async () => Promise.resolve(verdictOf(judge, signer, sample)), owner),
    replay: () => replayWeek(init, signer, judge, owner),
  };
}

function factsOf(sample: SampleRequest, signer: SignerObject): RequestFacts {
  switch (sample.kind) {
    case 'csr':
      return factsOfCsr(sample.object, signer);
    case 'pcr':
      return factsOfPodRequest(sample.object, signer);
    case 'certificaterequest':
      return factsOfCertificateRequest(sample.object, signer);
  }
}

function verdictOf(judge: ReplayJudge, signer: SignerObject, sample: SampleRequest): SampleVerdict {
  const at = sample.object.metadata.creationTimestamp;
  const verdict = judge({ ...factsOf(sample, signer), at });
  const { word, message } = verdict;
  const names = 'names' in verdict ? (verdict.names ?? []) : [];
  return { word, message: names.length === 0 ? message : `names: ${names.join(', ')}` };
}

type Owner = Parameters<typeof createSignerDeadline>[0];

async function replayWeek(
  { client, delay }: RulesEngineInit,
  { spec }: SignerObject,
  judge: ReplayJudge,
  owner: Owner,
): Promise<ReplayResult> {
  const replay = new Replay(judge);
  const patience = { leftMs: MAX_WAIT_MS, delay };
  const choice = { signer: spec.signerName, since: REPLAYED };
  const reading = { limit: MAX_REPLAYED, oldestFirst: true };
  let count = 0;
  let hasMore = false;
  for await (const { items, metadata } of pagesOf(client, choice, reading)) {
    for (const record of items) {
      const add = (): void => {
        replay.add(record);
      };
      if (!(await workPatiently(add, owner, patience)))
        return resultOf(
          replay,
          `after ${count} records: the rules used the CPU time of this session`,
        );
      count += 1;
    }
    hasMore = metadata.continue !== undefined;
  }
  return resultOf(replay, hasMore ? `after ${count} records: the ledger has more` : undefined);
}

interface Patience {
  leftMs: number;
  readonly delay: Delay;
}

/** Works when the budget allows it. @returns false if that takes too long */
async function workPatiently(work: () => void, owner: Owner, patience: Patience): Promise<boolean> {
  for (;;) {
    try {
      await runInSlices(async () => {
        work();
        await Promise.resolve();
      }, owner);
      return true;
    } catch (error) {
      if (!(error instanceof EvaluationDeferred)) throw error;
      patience.leftMs -= error.waitMs;
      if (patience.leftMs < 0) return false;
      await patience.delay(error.waitMs);
    }
  }
}

function resultOf(replay: Replay, cut: string | undefined): ReplayResult {
  const { requests, same, different, unknown } = replay.report();
  return {
    requests,
    same,
    different: different.slice(0, MAX_DIFFERENT).map(replayed),
    unknown: unknown.length,
    cut,
  };
}

function replayed({ request, requester, before, now }: ReplayedRequest): ReplayedSample {
  const { kind, namespace, name } = request;
  const names = 'names' in now ? (now.names ?? []).join(', ') : '';
  return {
    request: `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`,
    requester,
    before: before.rule === undefined ? before.word : `${before.word} (${before.rule})`,
    now: now.word,
    message: names === '' ? now.message : `names: ${names}`,
  };
}
