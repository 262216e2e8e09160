// Fan-out by npm `ws`, as in its README: sends every message to every client.
// "go N BYTES" from any socket publishes N messages of that size, then "end".
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('listening', () => console.log(server.address().port));
server.on('connection', (socket) => {
  socket.send('ready');
  socket.on('message', (data) => {
    const [, count, size] = String(data).split(' ').map(Number);
    const message = 'x'.repeat(size);
    for (let i = 0; i < count; i++) for (const client of server.clients) client.send(message);
    for (const client of server.clients) client.send('end');
  });
});
