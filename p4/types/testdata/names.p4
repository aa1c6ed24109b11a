const bit<8> a = b /* ERROR "unknown name" */;
