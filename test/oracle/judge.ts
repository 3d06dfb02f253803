// SPDX-License-Identifier: Apache-2.0
import { NOW } from '../support/pki/chain.ts';
import { ISSUER } from './corpus/bases.ts';
import type { Case } from './corpus/case.ts';
import type { Facts } from './corpus/table.ts';
import { inTurns, type Openssl } from './openssl.ts';
import { ACCEPTED, chainOf, type Answer, type ChainParts, type Oracle } from './oracle.ts';
import { ourChain, ourRequestPem, ourWholeRequest, type Verdict } from './ours.ts';

/** What we and Go say of one file of the corpus. */
export interface Judgement {
  readonly case: Case;
  readonly bytes: Uint8Array;
  readonly ours: Verdict;
  readonly go: Answer;
}

export function judgeAll(cases: readonly Case[], oracle: Oracle): Promise<readonly Judgement[]> {
  return Promise.all(
    cases.map(async (each) => {
      const bytes = each.bytes();
      return {
        case: each,
        bytes,
        ours: oursOn(each.kind, bytes),
        go: await goOn(each.kind, bytes, oracle),
      };
    }),
  );
}

/** The names of the cases that OpenSSL accepts, too. */
export async function acceptedByOpenssl(
  judged: readonly Judgement[],
  openssl: Openssl,
): Promise<ReadonlySet<string>> {
  const [certificates, requests] = [
    judged.filter((each) => each.case.kind === 'certificate'),
    judged.filter((each) => each.case.kind !== 'certificate'),
  ];
  const leaves = await openssl.acceptedLeaves(
    certificates.map(({ bytes }) => bytes),
    belowIssuer(new Uint8Array()),
  );
  const others = await inTurns(requests, (each) =>
    openssl.acceptsRequest(each.bytes, each.case.kind === 'request' ? 'DER' : 'PEM'),
  );
  const accepted = [
    ...certificates.filter((_, index) => leaves[index]),
    ...requests.filter((_, index) => others[index]),
  ];
  return new Set(accepted.map((each) => each.case.name));
}

/** A certificate of the corpus is a leaf below its issuer. */
function belowIssuer(leaf: Uint8Array): ChainParts {
  return { leaf, intermediates: [], roots: [ISSUER.certificate.raw], now: NOW };
}

function oursOn(kind: Case['kind'], bytes: Uint8Array): Verdict {
  if (kind === 'certificate') return ourChain(belowIssuer(bytes));
  if (kind === 'request') return ourWholeRequest(bytes);
  const pem = ourRequestPem(Buffer.from(bytes).toString('latin1'));
  return pem.der === undefined ? pem : ourWholeRequest(pem.der);
}

async function goOn(kind: Case['kind'], bytes: Uint8Array, oracle: Oracle): Promise<Answer> {
  if (kind === 'certificate') return oracle.ask('v', chainOf(belowIssuer(bytes)));
  return oracle.ask(kind === 'request' ? 'r' : 'p', bytes);
}

/** For the table. */
export function factsOf({ case: { name, wrong, source }, ours, go }: Judgement): Facts {
  return { name, wrong, source, ours: ours.error?.code ?? 'accepted', go: go.level === ACCEPTED };
}
