// This module is loaded before the measured program. It answers each message with the CPU time that the process has used so
// far.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
// The channel for messages must not keep the program running.
process.channel?.unref();
