// SPDX-License-Identifier: Apache-2.0
import type { ChainCase } from './chains/case.ts';
import type { Facts } from './corpus/table.ts';
import { inTurns, type Openssl } from './openssl.ts';
import { ACCEPTED, chainOf, type ChainParts, type Oracle } from './oracle.ts';
import { ourChain, type Verdict } from './ours.ts';

/** What we and Go say of one chain. */
export interface ChainJudgement {
  readonly facts: Facts;
  readonly parts: ChainParts;
  readonly ours: Verdict;
}

export function judgeChains(
  cases: readonly ChainCase[],
  oracle: Oracle,
): Promise<readonly ChainJudgement[]> {
  return Promise.all(
    cases.map(async ({ name, wrong, source, parts: make }) => {
      const parts = make();
      const ours = ourChain(parts);
      const go = (await oracle.ask('v', chainOf(parts))).level === ACCEPTED;
      return {
        facts: { name, wrong, source, ours: ours.error?.code ?? 'accepted', go },
        parts,
        ours,
      };
    }),
  );
}

/** The names of the chains that OpenSSL accepts, too. */
export async function chainsAcceptedByOpenssl(
  judged: readonly ChainJudgement[],
  openssl: Openssl,
): Promise<ReadonlySet<string>> {
  const accepted = await inTurns(judged, ({ parts }) => openssl.acceptsChain(parts));
  return new Set(judged.filter((_, index) => accepted[index]).map(({ facts }) => facts.name));
}
