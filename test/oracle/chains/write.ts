// SPDX-License-Identifier: Apache-2.0
/** Writes README.md again after a chain was added. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeTable } from '../corpus/table.ts';
import { chainsAcceptedByOpenssl, judgeChains } from '../judge-chains.ts';
import { Openssl } from '../openssl.ts';
import { openOracle } from '../oracle.ts';
import { HEAD } from './head.ts';
import { CHAINS } from './index.ts';

await using oracle = await openOracle();
using openssl = new Openssl();
const judged = await judgeChains(CHAINS, oracle);
const accepted = await chainsAcceptedByOpenssl(judged, openssl);
const all = judged.map(({ facts }) => facts);
writeFileSync(join(import.meta.dirname, 'README.md'), writeTable(HEAD, all, accepted));
