// What test programs include of the system is precompiled for this program, which does nothing
// itself.
int main() { return 0; }
