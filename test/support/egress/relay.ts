// SPDX-License-Identifier: Apache-2.0
/**
 * A process within the network of a pods' host that hands connections on to a socket file, by which
 * a proxy outside of that network is reached. It ends with its standard input.
 */
import { connect, createServer } from 'node:net';

const [host, port, socket = ''] = process.argv.slice(2);

const server = createServer((client) => {
  const outside = connect(socket);
  const end = (): void => {
    client.destroy();
    outside.destroy();
  };
  client.on('error', end);
  outside.on('error', end);
  client.pipe(outside).pipe(client);
});
server.listen(Number(port), host, () => console.log('ready'));
process.stdin.on('end', () => process.exit()).resume();
