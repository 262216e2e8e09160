// Fan-out by Bun's WebSocket server, with its built-in publish and subscribe.
// "go N BYTES" from any socket publishes N messages of that size, then "end".
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request, self) => (self.upgrade(request) ? undefined : new Response('no', { status: 400 })),
  websocket: {
    perMessageDeflate: false,
    idleTimeout: 0,
    backpressureLimit: 1 << 30,
    open(socket) {
      socket.subscribe('all');
      socket.send('ready');
    },
    message(_, data) {
      const [, count, size] = String(data).split(' ').map(Number);
      const message = 'x'.repeat(size);
      for (let i = 0; i < count; i++) server.publish('all', message);
      server.publish('all', 'end');
    },
  },
});
console.log(server.port);
