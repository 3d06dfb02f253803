// SPDX-License-Identifier: Apache-2.0
/** What must hold under each kind of fault: one lab for all, one law after the other. */
import { after, afterEach, before } from 'node:test';
import { bench, openBench } from './bench.ts';
import './calls.ts';
import './watches.ts';
import './processes.ts';
import './credentials.ts';
import './clocks.ts';
import './objects.ts';
import './replicas.ts';
import './silence.ts';
// Last: an audit log that may miss something weakens what comes after it.
import './servers.ts';

before(openBench);
afterEach(() => bench.proxy.script.set(''));
after(() => bench.stop());
