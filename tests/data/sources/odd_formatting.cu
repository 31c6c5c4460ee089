// corpus: swapped
// corpus: kernels 2
#include "support.cuh"

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n] by=2

__global__
/* nothing
   here */
        void
  broken_up   (   int
      *data
   ,  int     by  ,

      int n
  )
{ int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n)data[i]*=by
  ; }

// cupilot: tune
// cupilot: workload grid=4 block=64 n=256 data=integers(0,9)[n]
__global__ void one_line(int*data,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n)data[i]-=i;}int after_it=4;

int main() {
  support::Array<int> data(256, 1, 1);
  broken_up
    <<<
      4 ,
      64
    >>>
    ( data . get ( ) , 2 , 256 )
    ;
  one_line<<<after_it,64>>>(data.get(),256);
  support::Show("data", data);
}
