const char* Helper() { return "helper"; }
