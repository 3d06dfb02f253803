// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { endianness } from 'node:os';
import { test } from 'node:test';
import { clientUsers } from '#console/server/peer.ts';

const isLittle = endianness() === 'LE';
const HOME = isLittle ? '0100007F' : '7F000001';
const SECOND = isLittle ? '0200007F' : '7F000002';
const MAPPED = isLittle ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';

const line = (local: string, remote: string, user: number, state = '01'): string =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${user}        0 123 1\n`;

const TCP = [
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n',
  line(`${HOME}:1F90`, `${HOME}:C350`, 1),
  line(`${SECOND}:C350`, `${HOME}:1F90`, 2),
  line(`${HOME}:C350`, `${HOME}:1F91`, 3),
  line(`${HOME}:C350`, `${SECOND}:1F90`, 0, '06'),
  line(`${HOME}:C350`, `${HOME}:1F90`, 4),
].join('');
const TCP6 = line(`${MAPPED}${HOME}:C351`, `${MAPPED}${HOME}:1F90`, 5);

const connection = {
  remoteAddress: '127.0.0.1',
  remotePort: 50_000,
  localAddress: '127.0.0.1',
  localPort: 8080,
};

test('the user is that of the end of the client, by both addresses and both ports', () => {
  assert.deepEqual(clientUsers(connection, [TCP, TCP6]), [4]);
  assert.deepEqual(clientUsers({ ...connection, remoteAddress: '127.0.0.2' }, [TCP, TCP6]), [2]);
  assert.deepEqual(clientUsers({ ...connection, localAddress: '127.0.0.2' }, [TCP, TCP6]), [0]);
});

test('a closed socket hides no user of the same ends, and a half-closed one counts', () => {
  const ends = [`${HOME}:C350`, `${HOME}:1F90`] as const;
  const closed = line(...ends, 0, '06');
  assert.deepEqual(clientUsers(connection, [closed + TCP, TCP6]), [0, 4]);
  assert.deepEqual(clientUsers(connection, [closed + line(...ends, 6, '05'), TCP6]), [0, 6]);
});

test('a client with a socket of IPv6 is found', () => {
  assert.deepEqual(clientUsers({ ...connection, remotePort: 50_001 }, [TCP, TCP6]), [5]);
});

test('a connection that no table lists has no known user', () => {
  assert.deepEqual(clientUsers({ ...connection, remotePort: 50_002 }, [TCP, TCP6]), []);
  assert.deepEqual(clientUsers(connection, ['', '']), []);
});
